import type { AnswerLayer } from './answer.ts'

/** A new key starts from the counts of the account's last key (G-36), then counts for itself. */
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
