import type { Contract } from './contract.ts'

/** What a refusal may be for, by the words that services have for it. */
const meanings = {
  credits:
    /credit|quota|balance|fund|billing|payment|spend|wallet|arrear|prepaid|recharge|top.?up|budget.?(?:exceeded|exhausted|reached|limit)|(?:over|exceeds?|exceeded).?budget/i,
  overload: /overload|capacity|busy/i,
  keys: /api.?key|key.?(?:unknown|invalid|expired|disabled|missing|revoked|not.?found)|(?:unknown|invalid|expired|disabled|missing|revoked|bad|wrong|no).?key(?![a-z_-])|authenticat|unauthorized|credential|(?:invalid|expired|missing).?token(?![a-z_-])/i,
} as const
type Meaning = keyof typeof meanings

/** Whether a word of an error means a refusal of this kind. */
export const saysFor = (meaning: Meaning, word: string): boolean => meanings[meaning].test(word)

type Tables = Pick<Contract, 'chatErrors' | 'messagesErrors'>

/** A word that a contract has for a refusal, and its status. */
export interface Refusal {
  readonly word: string
  readonly status: number
}

/** The words for refusals of a meaning, each with its status: a 403 may be about permissions (§7.1), a 429 about a rate. */
export function refusalsFor(
  meaning: Meaning,
  { chatErrors = [], messagesErrors = [] }: Tables,
): readonly Refusal[] {
  const chat = chatErrors.flatMap(({ code, type, status }) => [
    { word: code, status },
    { word: type, status },
  ])
  const messages = messagesErrors.flatMap(({ type, statuses }) =>
    statuses?.length === 1 ? [{ word: type, status: statuses[0]! }] : [],
  )
  return [...chat, ...messages].flatMap(({ word, status }) =>
    status !== null && saysFor(meaning, word) ? [{ word, status }] : [],
  )
}

/** Whether an error with these words and this status is one of the refusals. */
export const isAmong = (
  refusals: readonly Refusal[],
  error: Record<'errorCode' | 'errorType', string | null> & { readonly status: number | null },
): boolean =>
  refusals.some(
    ({ status, word }) =>
      status === error.status && (word === error.errorCode || word === error.errorType),
  )

/** The statuses that a contract has for want of credits; a 402 is never about anything else. */
export function statusesForCredits(contract: Tables): readonly number[] {
  const has402 = statusesIn(contract).includes(402)
  const named = refusalsFor('credits', contract).map(({ status }) => status)
  return [...new Set([...named, ...(has402 ? [402] : [])])].toSorted((a, b) => a - b)
}

/** The statuses of a refused key: those in the tables and a 401. Without either, 403 if the tables have one for more than credits. */
export function statusesForKeys(contract: Tables): readonly number[] {
  const { chatErrors = [], messagesErrors = [] } = contract
  const has401 = statusesIn(contract).includes(401)
  const named = refusalsFor('keys', contract).map(({ status }) => status)
  const found = [...new Set([...(has401 ? [401] : []), ...named])]
  if (found.length > 0) return found.toSorted((a, b) => a - b)
  const ofCredits = new Set(refusalsFor('credits', contract).map(({ word }) => word))
  const isForbidden =
    chatErrors.some(
      ({ code, type, status }) => status === 403 && !ofCredits.has(code) && !ofCredits.has(type),
    ) ||
    messagesErrors.some(
      ({ type, statuses }) => statuses?.includes(403) === true && !ofCredits.has(type),
    )
  return [isForbidden ? 403 : 401]
}

const statusesIn = ({ chatErrors = [], messagesErrors = [] }: Tables): readonly number[] => [
  ...chatErrors.flatMap(({ status }) => status ?? []),
  ...messagesErrors.flatMap(({ statuses }) => statuses ?? []),
]
