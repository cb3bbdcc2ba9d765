/** A store that cannot be opened or used, told to the user in one sentence. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
