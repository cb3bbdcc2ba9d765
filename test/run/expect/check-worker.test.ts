import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { Checked } from '../../../src/run/expect/checks.ts'
import type { Expectation } from '../../../src/scenario/steps.ts'

/** The verdicts of the thread that judges on a message of answers. */
async function judged(expect: readonly Expectation[], texts: readonly string[]) {
  const { port1, port2 } = new MessageChannel()
  const scenario = { steps: [{ name: 's', expect }], modulePath: null }
  const worker = new Worker(new URL('../../../src/run/expect/check.worker.ts', import.meta.url), {
    workerData: { scenario, secrets: [], senders: [port2] },
    transferList: [port2],
  })
  onTestFinished(async () => void (await worker.terminate()))
  const answered = new Promise<readonly Checked[]>((resolve, reject) => {
    port1.once('message', resolve)
    worker.once('error', reject)
  })
  const answer = { step: 0, isWhole: true, isText: true, completionTokens: null }
  port1.postMessage(texts.map((body, id) => ({ ...answer, id, body })))
  return (await answered).map(({ verdict }) => verdict)
}

test('each answer has its own time: many quick ones in one message are all judged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-check-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'check.mjs')
  const busy =
    '{ const from = performance.now(); while (performance.now() - from < 5); return true }'
  writeFileSync(path, `export default () => ${busy}`)
  const verdicts = await judged([{ kind: 'check', path }], Array(50).fill('Yes.'))
  expect(new Set(verdicts.map(({ answer }) => answer))).toEqual(new Set(['correct']))
})

test('an answer that a check cannot read is unchecked for its own reason, and those after it are judged', async () => {
  const json = { schema: { type: 'array', items: { $ref: '#' } } }
  const deep = 20_000
  const texts = ['[]', `${'['.repeat(deep)}${']'.repeat(deep)}`, '[1]']
  const [first, second, third] = await judged([{ kind: 'json', json }], texts)
  expect(first).toEqual({ answer: 'correct' })
  expect(second).toEqual({
    answer: 'unchecked',
    why: 'the check failed: Maximum call stack size exceeded',
  })
  expect(third!.answer).toBe('json')
})
