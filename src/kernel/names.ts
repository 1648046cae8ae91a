/** The grammar of every name on the wire. A pattern is exported where a message shows it: `${SERVED_NAME.source}`. */

/** A served tool's name (chapter 2). */
export const SERVED_NAME = /^[A-Za-z0-9_-]{1,128}$/;
/** The name a model sees (chapter 4). */
const CALLABLE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** A task's key, unique in its run (chapter 5). */
export const TASK_KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** A document's name, which has at most 64 characters beside (chapter 2). */
export const DOCUMENT_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** A module's and a machine's name (chapter 1). */
const MODULE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** A claim token, as an executor may bring it (chapter 6). */
export const CLAIM_TOKEN = /^[A-Za-z0-9_-]{22,128}$/;

const DOCUMENT_NAME_LIMIT = 64;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const matching =
  (pattern: RegExp) =>
  (value: unknown): value is string =>
    typeof value === 'string' && pattern.test(value);

export const isServedName = matching(SERVED_NAME);
export const isCallableName = matching(CALLABLE_NAME);
export const isTaskKey = matching(TASK_KEY);
export const isModuleName = matching(MODULE_NAME);
export const isMachineName = matching(MODULE_NAME);
export const isClaimToken = matching(CLAIM_TOKEN);

/** A public id in the one spelling that Nexus answers with: ids are keys of caches, so no other spelling is let in. */
export const isUuid = matching(UUID);

export const isDocumentName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= DOCUMENT_NAME_LIMIT && DOCUMENT_NAME.test(value);

/** Whether a module or machine name is one that Nexus keeps for itself (chapter 1). */
export const isReservedModuleName = (name: string): boolean => name.startsWith('nexus-');
