/** A response head beyond this is broken off as `too-large`; ours and undici's alike. */
export const maxHeadBytes = 64 * 1024
