/** What a node answers as in the services protocol (chapter 8). */
export const NODE_SERVICES = ['nexus-executor', 'nexus-member', 'nexus-controller', 'nexus-console'] as const;
