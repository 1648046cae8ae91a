/** Ends what the set-up started. */
export default async function tearDown() {
  await globalThis.stopTestServices?.();
}
