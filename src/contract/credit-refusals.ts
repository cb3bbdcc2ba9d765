import type { Contract } from './contract.ts'

/**
 * The words that a contract has for a refusal for want of credits, each with its status. A 403 may also be about permissions
 * (§7.1), and a 429 about a rate, so only the error's name tells it.
 */
export function refusalsForCredits({
  chatErrors = [],
  messagesErrors = [],
}: Pick<Contract, 'chatErrors' | 'messagesErrors'>): readonly {
  readonly word: string
  readonly status: number
}[] {
  const chat = chatErrors.flatMap(({ code, type, status }) => [
    { word: code, status },
    { word: type, status },
  ])
  const messages = messagesErrors.flatMap(({ type, statuses }) =>
    statuses?.length === 1 ? [{ word: type, status: statuses[0]! }] : [],
  )
  return [...chat, ...messages].flatMap(({ word, status }) =>
    status !== null && /credit|quota|balance|fund/i.test(word) ? [{ word, status }] : [],
  )
}
