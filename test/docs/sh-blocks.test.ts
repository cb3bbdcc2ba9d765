import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const assay = resolve(root, 'src/cli/assay.js')
const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`)

/** The blocks of `sh` of a page, also of those in a list. */
const blocksOf = (markdown: string) =>
  [...markdown.matchAll(/^( *)```sh\n([\s\S]*?)^ *```/gm)].map(([, indent, text]) =>
    text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

const pages = ['README.md', 'docs/tutorial.md', ...guides]
  .map((page) => ({ page, text: readFileSync(join(root, page), 'utf8') }))
  .map(({ page, text }) => ({ page, text, blocks: blocksOf(text) }))
  .filter(({ blocks }) => blocks.length > 0)

/**
 * What a block runs in: `npx assay` is this checkout, `npm` installs nothing, and what keeps running is stopped after some
 * seconds. A command may end with a verdict (3) or no proof (4), but neither with a wrong argument (2) nor a bug (1).
 */
const shell = `
npm() { :; }
npx() {
  shift
  local words=("$@") most=120
  case "$1 $2" in
    'bench '*) words+=(--for 20s --max-rate 4/s) ;;
    'run '*) words+=(--time-scale 20) ;;
    'serve '*|'usage serve'|'usage watch') most=6 ;;
    'probe '*) most=30 ;;
  esac
  timeout -s INT $most "$NODE" "$ASSAY" "\${words[@]}"
  local code=$?
  case $code in 0|3|4|124|130) ;; *) echo "assay $* ended with $code" >> failures.txt ;; esac
  return $code
}
node() {
  timeout -s INT 4 "$NODE" "$@"
  local code=$?
  case $code in 0|124|130) ;; *) echo "node $* ended with $code" >> failures.txt ;; esac
}
`

test.each(pages)(
  'every block of sh in $page runs',
  { tags: 'whole', timeout: 600_000 },
  async ({ text, blocks }) => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-sh-'))
    const service = spawn(
      process.execPath,
      [assay, 'serve', '--port', '0', '--json', '--time-scale', '20'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    onTestFinished(async () => {
      await ended(service)
      rmSync(folder, { recursive: true })
    })
    const [line] = (await once(service.stdout!, 'data')) as [Buffer]
    const { baseUrl, keys } = JSON.parse(line.toString()) as {
      readonly baseUrl: string
      readonly keys: readonly { readonly apiKey: string }[]
    }
    prepare(folder, text, blocks)
    const key = keys.at(-1)!.apiKey
    // A reader has recorded a run, and has the store of the last release.
    await inBash(folder, before.replace('URL', baseUrl), key)
    for (const block of blocks) {
      const { stdout, stderr } = await inBash(folder, hereOf(block, baseUrl), key)
      const failures = join(folder, 'failures.txt')
      const failed = existsSync(failures) ? readFileSync(failures, 'utf8') : ''
      expect(failed && `${failed}\n${block}\n${stdout}\n${stderr}`).toBe('')
    }
  },
)

test('blocks are found in lists too, and README and most guides have one', () => {
  expect(blocksOf('a\n   ```sh\n   one\n   two\n   ```\n```sh\nthree\n```\n')).toEqual([
    'one\ntwo\n',
    'three\n',
  ])
  expect(pages.length).toBeGreaterThan(8)
})

const before =
  'npx assay run scenarios/quick.yaml --base-url URL; cp assay.duckdb baseline.duckdb; rm -f failures.txt'

/** The block with the addresses and keys of this test, less repetitions, and without the times of cron. */
const hereOf = (block: string, baseUrl: string) =>
  block
    .replaceAll(
      /https?:\/\/(127\.0\.0\.1:(8787|4000)|host:8000|(api|official|one|two)\.example(\.com)?)/g,
      baseUrl,
    )
    .replaceAll(/^[\d,*]+ [\d,*]+ \* \* \* +/gm, '')
    .replace('1 2 3 4 5 6 7 8 9 10 11 12', '1')
    .replaceAll(/^export ASSAY_API_KEY=.*$/gm, ':')
    .replace(
      'whsec_…',
      `whsec_${Buffer.from('32 bytes of a secret of webhooks').toString('base64')}`,
    )

function inBash(folder: string, block: string, key: string) {
  const env = {
    ...{
      ...process.env,
      ASSAY_API_KEY: key,
      OFFICIAL_KEY: key,
      KEY_ONE: key,
      KEY_TWO: key,
      ASSAY: assay,
      NODE: process.execPath,
    },
    NO_COLOR: '1',
  }
  return new Promise<{ readonly stdout: string; readonly stderr: string }>((done) => {
    const options = { cwd: folder, env, maxBuffer: 1e8 }
    execFile('bash', ['-c', `${shell}\n${block}`], options, (_, stdout, stderr) =>
      done({ stdout, stderr }),
    )
  })
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** The files that a reader has: those that the page shows, and of those that it only names, small ones. */
function prepare(folder: string, text: string, blocks: readonly string[]): void {
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content)
  for (const name of ['scenarios', 'contracts', 'examples', 'node_modules']) {
    symlinkSync(join(root, name), join(folder, name))
  }
  symlinkSync(join(root, 'scenarios/data'), join(folder, 'data'))
  for (const name of ['audit-integrity', 'integrity-session', 'audit-prices']) {
    // Their pauses are for rate limits of others.
    const scenario = readFileSync(join(root, `scenarios/${name}.yaml`), 'utf8')
    write(`${name}.yaml`, scenario.replaceAll('think: 1s', 'think: 50ms'))
  }
  const shown = [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent, block]) =>
    block!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  write('gate.yaml', shown.find((block) => block.includes('name: gate')) ?? '')
  for (const name of ['shop', 'one', 'two'])
    write(`${name}.yaml`, shown.find((block) => block.includes('name: shop')) ?? '')
  write('credits-page.yaml', shown.find((block) => block.includes('product:')) ?? '')
  write('contract.yaml', 'name: mine\n')
  write('my-service.yaml', 'name: mine\n')
  write('usage.json', '{"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}')
  if (!blocks.some((block) => block.includes('init launch.yaml'))) {
    write('launch.yaml', readFileSync(join(root, 'scenarios/first.yaml'), 'utf8'))
  }
  const events = Array.from({ length: 48 }, (_, hour) => ({
    ...{ id: `r${hour}`, time: new Date(Date.UTC(2026, 10, 1, hour)).toISOString() },
    ...{ model: 'svc-k2', account: 'acct-204', credits: 1 },
  }))
  const log = events.map((event) => `${JSON.stringify(event)}\n`).join('')
  for (const name of ['usage.jsonl', 'gateway.jsonl']) write(name, log)
  const map =
    'source: log\nfields: { id: id, time: time, model: model, account: account, credits: credits }\n'
  for (const name of ['map.yaml', 'mapping.yaml']) write(name, map)
  write(
    'spend.jsonl',
    '{"request_id": "a", "spend": 0.01, "model": "gpt-5.6", "startTime": "2026-11-01T00:00:00Z", "prompt_tokens": 10, "completion_tokens": 5}\n',
  )
}
