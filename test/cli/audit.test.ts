import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../src/service/start.ts'
import { main } from '../e2e/command.ts'

const scenario = `
name: long
question: Is an input beyond the context window refused?
keys: { main: { env: ASSAY_API_KEY } }
model: svc-k2
steps:
  long: { endpoint: chat, wrong: context-length, max_tokens: 4 }
phases:
  - { name: one, load: constant, rate: 10/s, duration: 100ms, steps: [long] }
`

test('a reproduction with a long body is referred to in the text, and --again prints it in full', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-audit-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const service = await startService({ seed: 1, faults: ['context-truncated'] })
  onTestFinished(() => service.close())
  writeFileSync(join(folder, 'long.yaml'), scenario)
  const assay = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [main, ...args], {
      cwd: folder,
      maxBuffer: 1 << 23,
      env: { ...process.env, ASSAY_API_KEY: service.keys.at(-1)!.apiKey },
    }).catch((ended: { code: number; stdout: string; stderr: string }) => ended)
  await assay('run', 'long.yaml', '--base-url', service.baseUrl)
  expect((await assay('audit', '--rule', 'LIM')).stdout).toContain(
    '\n  reproduce assay audit --db assay.duckdb --again LIM-01 | sh\n',
  )
  writeFileSync(
    join(folder, '0.json'),
    (await assay('audit', '--accounts', '0/1', '--json')).stdout,
  )
  const merged = await assay('audit', 'merge', '0.json', '--format', 'md')
  expect(merged).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/^## Audit by the contract svc/),
  })
  const runsOf = async (...named: readonly string[]) => {
    const { stdout } = await assay('audit', ...named, '--rule', 'LIM', '--json')
    return (JSON.parse(stdout) as { runs: unknown }).runs
  }
  expect(await runsOf('latest')).toEqual(await runsOf())
  expect(await assay('audit', 'none')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no run "none"'),
  })
  const { stdout } = await assay('audit', '--again', 'lim-01')
  const [first, body, end] = stdout.split('\n')
  expect(first).toMatch(/^curl .* --data-binary @- 'http:.*' <<'END-OF-BODY'$/)
  expect(JSON.parse(body!)).toMatchObject({ model: 'svc-k2', max_tokens: 4 })
  expect(end).toBe('END-OF-BODY')
  expect(await assay('audit', '--again', 'BILL-10')).toMatchObject({
    code: 2,
    stderr: '--again: BILL-10 did not fail on a request that can be sent again.\n',
  })
})
