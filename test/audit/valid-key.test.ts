import { describe, expect, test } from 'vitest'
import type { AttemptRow } from '../../src/attempt/columns.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

const { chat, messages } = defaultContract.auth
const headersOf = { chat, messages }

const asked = (slot: number, change: Partial<AttemptRow> = {}): AttemptRow =>
  attempt(slot, { template: change.endpoint === 'messages' ? 1 : 0, ...change })
const refused = (slot: number, change: Partial<AttemptRow> = {}): AttemptRow =>
  asked(slot, { outcome: 'http_error', status: 401, ...change })

/**
 * The verdict of the rule on requests with their key in the header of their format, and these
 * headers.
 */
function verdictOf(
  rule: string,
  rows: readonly AttemptRow[],
  more: Readonly<Record<string, string>> = {},
) {
  const templates = [...new Set(rows.map(({ runId }) => runId))].flatMap((runId) =>
    (['chat', 'messages'] as const).map((format, template) => ({
      runId,
      template,
      step: format,
      method: 'POST',
      path: defaultContract.paths[format],
      headers: JSON.stringify({
        ...more,
        [headersOf[format].name]: `${headersOf[format].prefix}$ASSAY_API_KEY`,
      }),
      body: null,
      maxTokens: null,
      n: null,
      promptHash: null,
    })),
  )
  return verdictOver(rule, rows, { templates })
}

describe.each([
  ['AUTH-01', 'chat', 'messages'],
  ['AUTH-02', 'messages', 'chat'],
] as const)('%s: a 401 is a failure only for a key that was served', (rule, endpoint, other) => {
  test('a mistyped key of one run is not a failure if another run has the right key', async () => {
    const mistyped = { endpoint, runId: 'a', keyFp: 'ffffffffffff' }
    const right = { endpoint, runId: 'b' }
    expect(
      await verdictOf(rule, [refused(0, mistyped), refused(1, mistyped), asked(0, right)]),
    ).toEqual({ verdict: 'pass', observations: 1 })
  })

  test('a mistyped key is not a failure if another key of the same run is served', async () => {
    const rows = [refused(0, { endpoint, keyFp: 'ffffffffffff' }), asked(1, { endpoint })]
    expect((await verdictOf(rule, rows)).verdict).toBe('pass')
  })

  test.each([429, 503])('a %i may come before the key is checked', async (status) => {
    const early = asked(0, { endpoint, outcome: 'http_error', status })
    expect((await verdictOf(rule, [early, refused(1, { endpoint })])).verdict).toBe('not-observed')
  })

  test('lists that are served may need no key', async () => {
    const rows = [attempt(0, { endpoint: 'models' }), refused(1, { endpoint })]
    expect((await verdictOf(rule, rows)).verdict).toBe('not-observed')
  })

  test('a key that was revoked during the run may be refused', async () => {
    const rows = [asked(0, { endpoint }), refused(1, { endpoint }), refused(2, { endpoint })]
    expect((await verdictOf(rule, rows)).verdict).toBe('pass')
  })

  test('a different key in the header of the other format may be the valid one', async () => {
    const rows = [refused(0, { endpoint }), asked(1, { endpoint: other })]
    const verdict = await verdictOf(rule, rows, { [headersOf[other].name]: 'a wrong key' })
    expect(verdict.verdict).toBe('not-observed')
  })

  test('a key that the other format accepts is valid', async () => {
    const rows = [refused(0, { endpoint }), asked(1, { endpoint: other })]
    expect(await verdictOf(rule, rows)).toMatchObject({
      verdict: 'fail',
      witnesses: [{ slot: 0 }],
    })
  })
})
