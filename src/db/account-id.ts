declare const brand: unique symbol;

/** The tenant's id. Branded: a statement that takes one can't be given any other string (chapter 1). */
export type AccountId = string & { readonly [brand]: 'AccountId' };
