/** A time as part of a name: `20261128-225300`, in UTC. */
export const stampOf = (at: Date) =>
  at.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
