import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import type { AnyCommand } from '../../src/cli/commands/command.ts'
import { program } from '../../src/cli/commands/program.ts'
import { exit } from '../../src/cli/terminal/exit.ts'
import {
  nextLine,
  optionWords,
  sameCommandWithout,
  storeWords,
} from '../../src/cli/terminal/next.ts'
import { startService } from '../../src/service/start.ts'
import { Running } from '../e2e/command.ts'
import { foreignServer } from './bench-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-next-'))
afterAll(() => rmSync(folder, { recursive: true }))

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const files: Readonly<Record<string, string>> = {
  'load.yaml':
    'name: a\nquestion: q\nmodel: svc-k2\nsteps: { s: { endpoint: chat, prompt: p, max_tokens: 4 } }\nphases: [{ name: p, load: constant, rate: 20/s, duration: 1s }]\n',
  'gateway.yaml':
    'name: g\nextends: none\ncurrency: USD\ncharged: { success: full, refused: none }\nmodels:\n  - id: m\n    price: { input: 4, output: 20 }\n',
  'usage.json': '{"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}',
  'spend.jsonl':
    '{"request_id": "a1", "startTime": "2026-11-09T08:00:01.250Z", "model": "m", "prompt_tokens": 1000, "completion_tokens": 100, "spend": 0.006}\n',
  'bill.csv':
    'BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ResourceId\n0.006,USD,Usage,2026-11-09T00:00:00Z,2026-11-10T00:00:00Z,m\n',
  'own.csv': 'id,at,model,cost\na,2026-11-09T08:00:01Z,m,2\n',
  'pair.yaml':
    'name: p\nquestion: q\nmodel: svc-k2\ntargets: { a: { base_url: "URL" }, b: { base_url: "URL" } }\nsteps: { s: { endpoint: chat, prompt: p, max_tokens: 4 } }\nphases: [{ name: p, load: constant, rate: 20/s, duration: 1s }]\n',
  'settings.yaml':
    "product: P\ntokens: { algorithm: EdDSA, publicKey: public.pem }\nshows: [credits, requests]\ntimezone: UTC\norigins: ['https://app.example.com']\naccounts: { acct-204: { label: L } }\n",
  'public.pem': publicKey.export({ type: 'spki', format: 'pem' }) as string,
  'private.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
}
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)

/**
 * Each command of `assay`, in an order in which each finds what those before it wrote, and the next command that its last line
 * names. `URL` and `KEY` are a service's, `OTHER` is a server without credits, and `RUN` stands for any id of a run.
 */
const table: readonly (readonly [command: string, line: string, next: string])[] = [
  ['demo', 'demo --db d.duckdb --out d.html', 'audit --db d.duckdb'],
  ['init', 'init first.yaml', 'run first.yaml --dry-run'],
  ['doctor', 'doctor --db a.duckdb', 'calibrate --db a.duckdb'],
  ['calibrate', 'calibrate --seconds 0.5 --db c.duckdb', 'init'],
  [
    'run',
    'run load.yaml --base-url URL --db a.duckdb --dry-run',
    'run load.yaml --base-url URL --db a.duckdb',
  ],
  ['run', 'run load.yaml --base-url URL --db a.duckdb', 'audit RUN --db a.duckdb'],
  ['run', 'run load.yaml --base-url URL --db b.duckdb', 'audit RUN --db b.duckdb'],
  [
    'run',
    'run load.yaml --base-url URL --db s0.duckdb --shard 0/2 --run-id two --seed 1 --start-at SOON',
    'merge s0.duckdb --db two.duckdb',
  ],
  ['merge', 'merge s0.duckdb --allow-missing --db two.duckdb', 'audit two --db two.duckdb'],
  [
    'bench',
    'bench OTHER/llm --rate 10/s --duration 1s --db bench.duckdb --out b.html',
    'audit RUN --db bench.duckdb',
  ],
  ['runs', 'runs --db a.duckdb', 'summary RUN --db a.duckdb'],
  ['contract show', 'contract show gateway.yaml', 'contract traffic gateway.yaml'],
  [
    'contract cost',
    'contract cost gateway.yaml --model m --usage usage.json',
    'contract traffic gateway.yaml',
  ],
  ['contract init', 'contract init openai --out o.yaml', 'contract show o.yaml'],
  [
    'contract traffic',
    'contract traffic gateway.yaml --out t.yaml',
    'run t.yaml --contract gateway.yaml --dry-run',
  ],
  [
    'probe',
    'probe --base-url URL --only G-12 --db p.duckdb --out p.yaml --max-credits 50',
    'audit --profile p.yaml --db p.duckdb',
  ],
  ['probe', 'probe --base-url URL --only G-12 --dry-run', 'probe --base-url URL --only G-12'],
  ['audit', 'audit --db a.duckdb', 'report audit --db a.duckdb'],
  ['audit', 'audit --explain BILL-11 --db a.duckdb', 'audit --rule BILL-11 --db a.duckdb'],
  [
    'audit',
    'audit --log spend.jsonl --contract gateway.yaml --alone',
    'report audit --for vendor --alone --log spend.jsonl --contract gateway.yaml',
  ],
  ['audit merge', 'audit merge share.json --db a.duckdb', 'report audit --db a.duckdb'],
  ['report', 'report launch --db a.duckdb --out l.html', 'audit --db a.duckdb'],
  ['report', 'report audit --for vendor --db a.duckdb --out evidence', 'audit --evidence evidence'],
  ['audit', 'audit --evidence evidence', 'audit --evidence evidence --verbose'],
  [
    'report',
    'report usage --by account --settings settings.yaml --db a.duckdb --out c.html',
    'report usage --db a.duckdb --for customer --account ACCOUNT --settings settings.yaml',
  ],
  ['summary', 'summary --db a.duckdb', 'report run RUN --db a.duckdb'],
  [
    'compare',
    'compare latest latest --db a.duckdb --db-b b.duckdb',
    'compare latest latest --db a.duckdb --db-b b.duckdb --format html',
  ],
  [
    'compare',
    'compare latest latest --db a.duckdb --db-b b.duckdb --format html --out c.html',
    'compare latest latest --db a.duckdb --db-b b.duckdb --all',
  ],
  ['compare', 'compare latest --history p50 --db a.duckdb', 'runs --db a.duckdb'],
  [
    'run',
    'run pair.yaml --db pair.duckdb --run-id two',
    'compare two-a two-b --db pair.duckdb --db-b pair-b.duckdb --all',
  ],
  [
    'usage',
    'usage --db a.duckdb --timezone Europe/Berlin',
    'report usage --db a.duckdb --timezone Europe/Berlin',
  ],
  ['usage watch', 'usage watch --base-url URL --db w.duckdb --count 1', 'usage --db w.duckdb'],
  [
    'usage reconcile',
    'usage reconcile --bill bill.csv --log spend.jsonl --contract gateway.yaml',
    'audit --log spend.jsonl --alone --contract gateway.yaml',
  ],
  ['usage check', 'usage check --settings settings.yaml', 'usage serve --settings settings.yaml'],
  ['import', 'import bill.csv --check --db i.duckdb', 'import bill.csv --db i.duckdb'],
  ['import', 'import spend.jsonl --db i.duckdb', 'usage --db i.duckdb'],
  ['import', 'import own.csv --suggest', 'import own.csv --map mapping.yaml'],
  ['export', 'export attempts --db a.duckdb --out a.csv', 'usage --db a.duckdb'],
  ['export', 'export sums --db a.duckdb --out s.csv', 'report usage --db a.duckdb'],
  ['completion', 'completion bash', 'completion bash >> ~/.bashrc'],
]

/** These run until they are stopped, so their last line is that of their start. */
const running: readonly (readonly [command: string, line: string, next: string])[] = [
  ['serve', 'serve --port 0', 'bench http://127.0.0.1:PORT'],
  [
    'usage serve',
    'usage serve --settings settings.yaml --db a.duckdb --listen 127.0.0.1:0',
    'usage token --account acct-204 --settings settings.yaml --private-key usage-private.pem',
  ],
]

/** Their output is for a program, or they need a server of others: other tests run them. */
const elsewhere = ['usage token', 'usage init', 'usage close', 'usage alerts', 'watch']

const leaves = (command: AnyCommand, path: string): readonly string[] => [
  ...(command.commands.length === 0 || ['audit', 'usage'].includes(path) ? [path] : []),
  ...command.commands.flatMap((each) => leaves(each, `${path} ${each.name()}`.trim())),
]

test('every command has a row here, so that each names the next one', () => {
  const rows = [...table, ...running].map(([command]) => command)
  expect([...new Set([...rows, ...elsewhere])].sort()).toEqual([...leaves(program(), '')].sort())
})

test('the last line of every command names the next one, with the files just used', {
  tags: 'whole',
  timeout: 900_000,
}, async () => {
  const service = await startService({ accounts: [{ name: 'a', balance: 50_000 }] })
  const other = await foreignServer()
  const environment = { ASSAY_API_KEY: service.keys[0]!.apiKey, NO_COLOR: '1' }
  const soon = () => new Date(Date.now() + 10_000).toISOString()
  const filled = (text: string) =>
    text
      .replaceAll('URL', service.baseUrl)
      .replaceAll('OTHER', other.origin)
      .replaceAll('SOON', soon())
  try {
    writeFileSync(join(folder, 'pair.yaml'), filled(files['pair.yaml']!))
    const wrong: string[] = []
    for (const [, line, next] of table) {
      if (line.startsWith('audit merge')) {
        const json = await new Running(
          ['audit', '--db', 'a.duckdb', '--accounts', '0/1', '--json'],
          environment,
          folder,
        ).ended
        writeFileSync(join(folder, 'share.json'), json.stdout)
      }
      const ended = await new Running(filled(line).split(' '), environment, folder).ended
      const last = ended.stdout.trimEnd().split('\n').at(-1)!
      const named = /^(?:# )?Next: assay (.*?)(?: {2}# .*)?$/.exec(last)?.[1]
      // A busy machine is not fit, and a run on it is invalid.
      const isBusy = ended.code === (line.startsWith('doctor') ? exit.failed : exit.invalid)
      const expected = isBusy && named?.startsWith('doctor') ? named : filled(next)
      if (named?.replace(/\b\d{8}-\d{6}-[0-9a-f]{4}\b/, 'RUN') !== expected) {
        wrong.push(`${line}\n  expected ${expected}\n  got ${last}\n${ended.stderr}`)
      }
    }
    expect(wrong.join('\n')).toBe('')
  } finally {
    await service.close()
  }
})

test('a command that runs until it is stopped names the next one at its start', {
  tags: 'whole',
}, async () => {
  for (const [, line, next] of running) {
    const process = new Running(line.split(' '), {}, folder)
    try {
      await expect.poll(() => process.stdout + process.stderr).toMatch(/Next: assay .*\n/)
      const last = `${process.stdout}${process.stderr}`
        .split('\n')
        .findLast((each) => each.startsWith('Next: '))!
      expect(last.replace(/:\d{4,5}\b/, ':PORT')).toMatch(`Next: assay ${next}  # `)
    } finally {
      process.child.kill('SIGTERM')
      await process.ended
    }
  }
})

test.each([
  'runs --json',
  'summary --json',
  'summary --format md',
  'audit --json',
  'compare latest latest --json',
])(
  '%s prints no next command, which a program would have to leave out',
  { tags: 'whole' },
  async (line) => {
    const { stdout } = await new Running([...line.split(' '), '--db', 'a.duckdb'], {}, folder).ended
    expect(stdout).not.toContain('Next:')
    expect(stdout).not.toBe('')
  },
)

test('the next command is one that a shell takes as it is', () => {
  expect(nextLine(['audit', ...storeWords("a b's.duckdb")], 'judges')).toBe(
    "Next: assay audit --db 'a b'\\''s.duckdb'  # judges\n",
  )
  expect([...storeWords('assay.duckdb'), ...optionWords('--key', undefined)]).toEqual([])
  expect(optionWords('--key', ['a', 'b'])).toEqual(['--key', 'a', '--key', 'b'])
})

test.each([
  ['--join nats://user:PASSWORD@10.0.0.7:4222', "--join 'nats://…@10.0.0.7:4222'"],
  ['--join=nats://user:PASSWORD@10.0.0.7:4222', "'--join=nats://…@10.0.0.7:4222'"],
  ['--join=user:PASSWORD@10.0.0.7:4222', "'--join=…@10.0.0.7:4222'"],
  ['--engine=clickhouse://u:PASSWORD@h/usage', "'--engine=clickhouse://…@h/usage'"],
  ['https://h/log.csv?sig=PASSWORD', "'https://h/log.csv?…'"],
  ['--base-url=https://h/v1', "'--base-url=https://h/v1'"],
  ['--account me@example.com', "--account 'me@example.com'"],
  ['--join user:PASS/WORD@10.0.0.7:4222', "--join '…@10.0.0.7:4222'"],
  ['--join=user:PASS/WORD@10.0.0.7:4222', "'--join=…@10.0.0.7:4222'"],
  ['--join TOKEN@10.0.0.7:4222', "--join '…@10.0.0.7:4222'"],
  ['--join=TOKEN@nats.example', "'--join=…@nats.example'"],
  ['notes/a:b@c.yaml', "'notes/a:b@c.yaml'"],
])('the next command names %s without what may be a password', (given, shown) => {
  const faked = vi.spyOn(process, 'argv', 'get')
  onTestFinished(() => faked.mockRestore())
  faked.mockReturnValue(['node', 'assay', 'run', ...given.split(' '), '--dry-run'])
  expect(nextLine(sameCommandWithout('--dry-run'), 'sends it')).toBe(
    `Next: assay run ${shown}  # sends it\n`,
  )
})

test('a header that is an address stays as it is, so that the copied command sends the same', () => {
  const header = ['--header', 'http-referer: https://a.example/?x=1']
  expect(nextLine(['bench', ...header], 'sends it')).toContain(
    "--header 'http-referer: https://a.example/?x=1'",
  )
  expect(
    nextLine(['bench', '--header', 'x-proxy: https://me:PASSWORD@a.example/?x=1'], ''),
  ).toContain("--header 'x-proxy: https://…@a.example/?x=1'")
})

test('a dry run prints no value of a header that may be a key', { tags: 'whole' }, async () => {
  const key = 'pk-live-0123456789abcdef'
  const line = ['probe', '--only', 'G-12', '--header', `x-portkey-api-key: ${key}`, '--dry-run']
  const { stdout } = await new Running(line, {}, folder).ended
  expect(stdout).toContain("--header 'x-portkey-api-key: [key]'")
})
