import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService } from '../../src/service/start.ts'
import { observedOf, onPage, printedIn, shellIn } from './printed-commands.ts'

/**
 * Each line that a finding prints to be copied is run by a shell as it stands, where its reader is: beside the log, or in a folder of
 * evidence that was moved, without any store.
 */
const place = mkdtempSync(join(tmpdir(), 'assay-reproduce-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const shell = shellIn(place)

const folder = (name: string) => {
  mkdirSync(join(place, name), { recursive: true })
  return join(place, name)
}

describe('of a log alone', () => {
  const beside = folder('beside')
  const row = (id: string, spend: number, change: object = {}) =>
    `${JSON.stringify({
      ...{ request_id: id, model: 'big', startTime: '2026-11-01T00:00:00.000Z', spend },
      ...{ prompt_tokens: 1000, completion_tokens: 100 },
      ...change,
    })}\n`
  beforeAll(async () => {
    writeFileSync(
      join(beside, "Ann's contract.yaml"),
      `name: shop
extends: none
currency: USD
charged: { success: full, refused: none }
models: [{ id: big, price: { input: 4, output: 8 } }]
`,
    )
    writeFileSync(
      join(beside, 'spend log.jsonl'),
      [
        ...[row('a', 0.0048), row('b', 0.0096), row('b', 0.0096)],
        row('c', 0.0048, {
          metadata: { usage_object: { prompt_tokens_details: { cached_tokens: 5000 } } },
        }),
      ].join(''),
    )
  })

  const given = `--log 'spend log.jsonl' --contract "Ann's contract.yaml"`

  test('each line judges the log again, and finds the same', async () => {
    const audited = await shell(`assay audit ${given}`, beside)
    const lines = printedIn(audited.stdout)
    expect(lines.map(([rule]) => rule)).toEqual(['PRICE-01', 'PRICE-04', 'PRICE-05'])
    for (const [rule, line] of lines) {
      const replayed = await shell(line, beside)
      expect([line, replayed.code]).toEqual([line, 3])
      expect(printedIn(replayed.stdout).map(([each]) => each)).toEqual([rule])
      expect(observedOf(audited.stdout)).toContain(observedOf(replayed.stdout)[0])
    }
  })

  test('each line of a folder of evidence does, also on another machine', {
    tags: 'whole',
    timeout: 300_000,
  }, async () => {
    const audited = await shell(`assay audit ${given}`, beside)
    const lines = printedIn(audited.stdout)
    expect(lines.map(([rule]) => rule)).toEqual(['PRICE-01', 'PRICE-04', 'PRICE-05'])
    const written = await shell(`assay report audit --for vendor --alone ${given}`, beside)
    expect(written).toMatchObject({ code: 0 })
    // On another machine: the folder alone, in another place.
    const moved = join(folder('vendor'), 'evidence')
    cpSync(join(beside, 'evidence'), moved, { recursive: true })
    const checked = await shell('assay audit --evidence evidence', folder('vendor'))
    const there = printedIn(checked.stdout)
    expect(there.map(([rule]) => rule)).toEqual(lines.map(([rule]) => rule))
    const shown = onPage(join(moved, 'findings.html'))
    expect(shown).toHaveLength(lines.length)
    const all = [
      ...lines.map((line) => [...line, beside] as const),
      ...there.map((line) => [...line, folder('vendor')] as const),
      ...shown.map((line, at) => [lines[at]![0], line, moved] as const),
    ]
    for (const [rule, line, cwd] of all) {
      const replayed = await shell(line, cwd)
      expect([line, replayed.code]).toEqual([line, 3])
      expect(printedIn(replayed.stdout).map(([each]) => each)).toEqual([rule])
      const [words] = observedOf(replayed.stdout)
      expect(observedOf(audited.stdout)).toContain(words)
    }
    expect(readdirSync(beside).some((name) => name.includes('duckdb'))).toBe(false)
    expect(readdirSync(folder('vendor'))).toEqual(['evidence'])
    // A log has no text of a request, and says so.
    expect(await shell(`assay audit ${given} --again PRICE-04`, beside)).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('did not fail on a request') },
    })
  })
})

const scenario = `
name: long
question: Is an input beyond the context window refused?
keys: { main: { env: OUR_KEY } }
model: svc-k2
steps:
  long: { endpoint: chat, wrong: context-length, max_tokens: 4 }
  short: { endpoint: chat, prompt: 'Say hello.', max_tokens: 4 }
phases:
  - { name: one, load: constant, rate: 10/s, duration: 200ms, steps: [long, short] }
`

test('of a run each line sends the request again, short or too long to be printed', {
  tags: 'whole',
  timeout: 300_000,
}, async () => {
  const service = await startService({ seed: 1, faults: ['context-truncated', 'fingerprint-null'] })
  try {
    const here = folder('run')
    writeFileSync(join(here, 'long.yaml'), scenario)
    const key = { OUR_KEY: service.keys.at(-1)!.apiKey }
    await shell(`assay run long.yaml --base-url ${service.baseUrl}`, here, key)
    const audited = await shell('assay audit', here)
    expect(await shell('assay report audit --for vendor', here)).toMatchObject({ code: 0 })
    expect(await shell('assay report audit --out audit.html', here)).toMatchObject({ code: 0 })
    const there = folder('other')
    cpSync(join(here, 'evidence'), join(there, 'evidence'), { recursive: true })
    const checked = await shell('assay audit --evidence evidence', there)
    const lines = printedIn(audited.stdout)
    expect(printedIn(checked.stdout).map(([rule]) => rule)).toEqual(lines.map(([rule]) => rule))
    const kinds = new Set<string>()
    for (const [line, cwd] of [
      ...lines.map(([, line]) => [line, here] as const),
      ...onPage(join(here, 'audit.html')).map((line) => [line, here] as const),
      ...printedIn(checked.stdout).map(([, line]) => [line, there] as const),
      ...onPage(join(there, 'evidence/findings.html')).map(
        (line) => [line, join(there, 'evidence')] as const,
      ),
    ]) {
      kinds.add(line.replace(/ .*/, ''))
      const { code, stdout } = await shell(line, cwd, key)
      expect([line.slice(0, 80), code, stdout.slice(0, 15)]).toEqual([
        ...[line.slice(0, 80), 0, 'HTTP/1.1 200 OK'],
      ])
    }
    expect([...kinds].toSorted()).toEqual(['assay', 'curl'])
  } finally {
    await service.close()
  }
})
