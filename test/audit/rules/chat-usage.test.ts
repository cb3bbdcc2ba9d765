import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { longestInline } from '../../../src/store/attempts/packed-bodies.ts'
import { attempt } from '../../report/attempts.ts'
import { openStore } from '../../store/opened.ts'
import { verdictIn, verdictOver } from '../verdict-over.ts'

const none = { promptTokens: null, completionTokens: null, totalTokens: null }
const judged = async (usage: object | null, row: Partial<AttemptRow> = none, isStored = true) => {
  const body = JSON.stringify({ choices: [{ message: { content: 'Hi' } }], usage })
  const bodies = isStored
    ? [{ runId: 'a', slot: 0, retry: 0, headers: '', body, truncated: false }]
    : []
  return (await verdictOver('CHAT-08', [attempt(0, row)], { bodies })).verdict
}

test('CHAT-08: counts of 0 beside a text, as a cache of a gateway writes them, are integers', async () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  expect(await judged(zeros)).toBe('pass')
  expect(await judged({ ...zeros, total_tokens: null })).toBe('fail')
  expect(await judged(null)).toBe('fail')
})

test('CHAT-08: an answer without counts that was not stored may have had those', async () => {
  expect(await judged(null, none, false)).toBe('not-observed')
  const counts = { promptTokens: 3, completionTokens: 2, totalTokens: 6 }
  expect(await judged(null, counts, false)).toBe('fail')
})

const folder = mkdtempSync(join(tmpdir(), 'assay-usage-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('CHAT-08: an answer that is too long for its row is judged by what is packed beside the store', async () => {
  let files = 0
  const long = async (usage: object | undefined, truncated = false) => {
    const content = 'Hi '.repeat(longestInline)
    const body = JSON.stringify({ choices: [{ message: { content } }], usage })
    const store = await openStore(join(folder, `${++files}.duckdb`))
    const bodies = [{ runId: 'a', slot: 0, retry: 0, headers: '', body, truncated }]
    try {
      return (await verdictIn(store, 'CHAT-08', [attempt(0, none)], { bodies })).verdict
    } finally {
      store.close()
    }
  }
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  expect(await long(undefined)).toBe('fail')
  expect(await long(zeros)).toBe('pass')
  // The counts may stand in what was cut off.
  expect(await long(undefined, true)).toBe('not-observed')
})
