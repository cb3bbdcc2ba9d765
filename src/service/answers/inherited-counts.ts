import type { AnswerLayer } from './answer.ts'

/**
 * A key that is used for the first time starts from what the account's last key has counted
 * (G-36), and counts for itself from then on.
 */
export const inheritedCounts: AnswerLayer = (below, { profile, rates }) => {
  if (profile.newKey === 'fresh') return {}
  const lastUsed = new Map<number, string>()
  return {
    look(call) {
      const account = call.key!.accountId
      const last = lastUsed.get(account)
      if (last !== undefined) rates.inherit(call.subject, last)
      lastUsed.set(account, call.subject)
      return below.look(call)
    },
  }
}
