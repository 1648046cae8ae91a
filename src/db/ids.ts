import { v7 } from 'uuid';

/** A new public id: UUIDv7, so that ids sort by creation (chapter 1). */
export const newId = (): string => v7();
