/** A longer response head fails as `too-large`, in our transport and in undici's. */
export const maxHeadBytes = 64 * 1024
