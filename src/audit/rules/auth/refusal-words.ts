import type { Promising } from '../../../contract/promises.ts'
import { refusalsFor, statusesForKeys } from '../../../contract/refusals.ts'
import { sqlList, sqlRule } from '../sql-rule.ts'

type Errors = Promising<'chat_errors or messages_errors'>

/** Codes with their types, and types of the messages shape, that the tables of a contract have for a key that is refused with a status. */
interface KeyWords {
  readonly chat: readonly (readonly [code: string, type: string])[]
  readonly messages: readonly string[]
}

function wordsForKeys(contract: Errors, status: number): KeyWords {
  // Every 401 is about the key. Another status may also have other meanings.
  const words = new Set(refusalsFor('keys', contract).map(({ word }) => word))
  const isOfKey = (...names: readonly string[]) =>
    status === 401 || names.some((name) => words.has(name))
  return {
    chat: (contract.chatErrors ?? []).flatMap((each) =>
      each.status === status && isOfKey(each.code, each.type)
        ? [[each.code, each.type] as const]
        : [],
    ),
    messages: (contract.messagesErrors ?? []).flatMap(({ type, statuses }) =>
      statuses?.includes(status) === true && isOfKey(type) ? [type] : [],
    ),
  }
}

/** The statuses of which the words are judged, each once. */
const statusesWithWords = (contract: Errors) => [...new Set([401, ...statusesForKeys(contract)])]

/** SQL: requests that were sent without a valid key. */
const withoutKey = `expects IN ${sqlList(['missing-key', 'invalid-key', 'altered-key', 'recased-key'])}`

export const auth05 = sqlRule({
  id: 'AUTH-05',
  title: 'A 401 carries the error of an invalid key, in the shape of its endpoint',
  section: '§7.2, §7.3',
  needs: ['active'],
  promised: ['chat_errors or messages_errors'],
  explain: `On chat the code must be one that the contract has for status 401, with its type, on messages a type
of its table for 401. A table without a row for 401 promises no words for it, nor does a format without a table. If the contract has another status for keys, a request
without a valid key that got it is judged likewise.`,
  expected: (contract) =>
    statusesWithWords(contract)
      .flatMap((status) => {
        const { chat, messages } = wordsForKeys(contract, status)
        return [
          ...(chat.length === 0 ? [] : [`${chat.map(([code]) => code).join(' or ')} on chat`]),
          ...(messages.length === 0 ? [] : [`${messages.join(' or ')} on messages`]),
        ]
      })
      .join(', '),
  observe: (contract) =>
    statusesWithWords(contract)
      .map((status) => wordsAt(contract, status))
      .join(' UNION ALL '),
  requires: 'a refused key on a generation endpoint',
})

/** SQL: refusals of a key with a status, and what is wrong with their words. */
function wordsAt(contract: Errors, status: number): string {
  const { chat, messages } = wordsForKeys(contract, status)
  const pairs = chat.map((pair) => sqlList(pair)).join(', ')
  const judged = [
    ...(chat.length === 0
      ? []
      : [
          `endpoint = 'chat' AND (coalesce(error_code, ''), coalesce(error_type, '')) NOT IN (VALUES ${pairs})`,
        ]),
    ...(messages.length === 0
      ? []
      : [`endpoint = 'messages' AND coalesce(error_type, '') NOT IN ${sqlList(messages)}`]),
  ]
  const formats = [
    ...(chat.length === 0 ? [] : ['chat']),
    ...(messages.length === 0 ? [] : ['messages']),
  ]
  return `
      SELECT run_id, slot, retry,
        CASE WHEN ${judged.join(' OR ') || 'false'}
             THEN 'code ' || coalesce(error_code, 'none') || ', type ' || coalesce(error_type, 'none') ||
               ' on ' || endpoint END AS observed
      FROM seen WHERE status = ${status} AND endpoint IN ${sqlList(['', ...formats])}
        ${status === 401 ? '' : `AND ${withoutKey}`}`
}
