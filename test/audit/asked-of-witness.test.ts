import { expect, test } from 'vitest'
import type { TemplateRow } from '../../src/attempt/evidence.ts'
import { firstUniqueTemplate } from '../../src/attempt/evidence.ts'
import { attempt } from '../report/attempts.ts'
import { verdictOver } from './verdict-over.ts'

const body = '{"model":"svc-k2"}'

/** What is stated as asked by the witness of a balance below zero, whose request is of this template. */
async function askedBy(template: number, promptHash: string | null) {
  const row: TemplateRow = {
    ...{ runId: 'a', template, step: 'chat', method: 'POST', path: '/v1/chat/completions' },
    ...{ headers: '{}', body, maxTokens: 1, n: null, promptHash },
  }
  const verdict = await verdictOver('BILL-09', [attempt(3, { template, creditsRemaining: -1 })], {
    templates: [row],
  })
  if (verdict.verdict !== 'fail') throw new Error(`the verdict is ${verdict.verdict}`)
  return verdict.witnesses[0].service?.asked
}

test('a witness states the hash and the length of the body that it sent', async () => {
  const sent = 'SHA-256 3c4a913d6f890c6477516418c5ec36f15fa4c32731e5437cbed2898909d6b28f, 18 bytes'
  expect(await askedBy(7, null)).toBe(sent)
  expect(await askedBy(firstUniqueTemplate + 300, 'hash')).toBe(sent)
})

test('a witness whose prompt is its own states none: the body of its template is of another request', async () => {
  expect(await askedBy(firstUniqueTemplate + 300, null)).toBe(null)
})
