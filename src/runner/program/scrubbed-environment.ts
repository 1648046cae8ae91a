/** Names of ours, and of the places where Nexus keeps its data. */
const OUR_NAMES = /^(NEXUS|NATS|PG|POSTGRES|TEST_NATS|TEST_DATABASE)|(^|_)DATABASE_URL$/i;
/** A token of any plane, a `.creds` text, or the address of a database or bus, whatever its variable is called. */
const OUR_VALUES =
  /nx[mep]_[0-9a-f]{8}-|BEGIN (NATS USER JWT|USER NKEY SEED)|^(postgres(ql)?|nats|tls|wss?):\/\//i;

/** The environment of this process without any secret of Nexus and any database or bus address: what commands get. */
export function scrubbedEnvironment(environment: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => !OUR_NAMES.test(name) && !OUR_VALUES.test(value ?? ''),
    ),
  );
}
