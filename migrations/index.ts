import { Identity0001 } from './0001-identity.js';
import { Announcements0002 } from './0002-announcements.js';
import { Runs0003 } from './0003-runs.js';
import { ToolProviderOverrides0004 } from './0004-tool-provider-overrides.js';
import { Restorations0005 } from './0005-restorations.js';
import { Retention0006 } from './0006-retention.js';
import { BusGrants0007 } from './0007-bus-grants.js';
import { ServedCalls0008 } from './0008-served-calls.js';
import { MeshRecords0009 } from './0009-mesh-records.js';
import { OperatorCapabilities0010 } from './0010-operator-capabilities.js';
import { InstanceIds0011 } from './0011-instance-ids.js';

/** Every migration, in order. Read by the node, the command and the tests alike. */
export const migrations = [
  Identity0001,
  Announcements0002,
  Runs0003,
  ToolProviderOverrides0004,
  Restorations0005,
  Retention0006,
  BusGrants0007,
  ServedCalls0008,
  MeshRecords0009,
  OperatorCapabilities0010,
  InstanceIds0011,
];
