import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { main } from '../e2e/command.ts'

/** `assay serve` as a process, with its output and its end. */
function serve(...args: readonly string[]) {
  const child = spawn(process.execPath, [main, 'serve', ...args])
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const written = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    written.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    written.err += chunk
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, ...written }))
  return { child, written, ended }
}

/** The one line that programs read. */
async function ready(child: ChildProcess) {
  const [line] = (await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('the service did not start')
    }),
  ])) as [Buffer]
  return JSON.parse(line.toString()) as {
    baseUrl: string
    keys: { band: string; apiKey: string; balance: number }[]
  }
}

test('the command prints its address and a key for each band, serves, and ends on a signal', {
  tags: 'whole',
}, async () => {
  const { child, ended } = serve('--port', '0', '--json')
  const { baseUrl, keys } = await ready(child)
  expect(keys.map(({ band }) => band)).toEqual(['1-100', '101-1000', '1001-10000', '10000+'])
  for (const { apiKey, balance } of keys) {
    const response = await fetch(`${baseUrl}/user/credits`, { headers: { 'x-api-key': apiKey } })
    expect(((await response.json()) as { remaining: number }).remaining).toBe(balance)
  }
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test('with a file and a seed, keys and balances survive a restart', { tags: 'whole' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const args = ['--port', '0', '--json', '--seed', '5', '--data', join(folder, 'ledger.db')]
  const first = serve(...args)
  const before = await ready(first.child)
  const { apiKey } = before.keys[0]!
  const response = await fetch(`${before.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: 'svc-k2.5', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.headers.get('x-credits-remaining')).toBe('98')
  const second = await serve(...args).ended
  expect(second).toMatchObject({ code: 2 })
  expect(second.err).toMatch(/expected a SQLite file that no other service holds/)
  first.child.kill('SIGINT')
  await first.ended
  const again = serve(...args)
  expect((await ready(again.child)).keys[0]).toMatchObject({ apiKey, balance: 98 })
})

test('wrong flags are reported in one sentence, with exit code 2', { tags: 'whole' }, async () => {
  const taken = serve('--port', '0', '--json')
  const { port } = new URL((await ready(taken.child)).baseUrl)
  for (const [args, words] of [
    [['--fault', 'double-ch', '--outage', '503'], 'Did you mean double-charge?'],
    [['--port', port], 'expected a free port'],
    [['--fault', 'early-429', '--fault', 'early-429=0.3'], 'early-429: expected once'],
    [['--seed', '4294967297'], 'expected a whole number below 4294967296'],
    [['--data', ''], 'expected a name; got an empty one'],
    [['--time-scale', '1e12'], 'at most 1000000'],
    [['--set', 'reset=['], '--set: expected question=answer, such as reset=epoch-s; got "reset=["'],
    [['--contract', 'none.yaml'], '--contract: expected a readable YAML file; got "none.yaml"'],
    [
      ['--upstream', 'http://127.0.0.1:1', '--upstream-model', 'svc-k9=x'],
      'expected ours=theirs, ours being one of svc-k2, svc-k2-0905, svc-k2-thinking, svc-k2.5; got "svc-k9=x"',
    ],
    [
      ['--upstream', 'http://127.0.0.1:1', '--upstream-model', 'a', '--upstream-model', 'b'],
      '--upstream-model: expected one name for all models; got "a" and "b"',
    ],
  ] as const) {
    const { code, err, out } = await serve(...args).ended
    expect([args, code, out]).toEqual([args, 2, ''])
    expect(err).toContain(words)
    expect(err).not.toContain('    at ')
  }
})

test('with a contract of small windows, short prompts reach the limits', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const contract = join(folder, 'small.yaml')
  writeFileSync(contract, 'extends: svc\nlimits: { max_input_tokens: 16, max_output_tokens: 5 }')
  const { child } = serve('--port', '0', '--json', '--contract', contract)
  const { baseUrl, keys } = await ready(child)
  const ask = async (content: string) => {
    const response = await fetch(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[0]!.apiKey}` },
      body: JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content }] }),
    })
    return (await response.json()) as Record<string, unknown>
  }
  expect(await ask('Count 1 to 9')).toMatchObject({
    choices: [{ finish_reason: 'length' }],
    usage: { completion_tokens: 5 },
  })
  expect(await ask('word '.repeat(16))).toMatchObject({
    error: { code: 'context_length_exceeded' },
  })
})

test('its plain output is readable', async () => {
  const { child, written, ended } = serve('--port', '0', '--fault', 'double-charge')
  await once(child.stdout, 'data')
  // At once: a reader of the first line may end it.
  child.kill('SIGINT')
  expect((await ended).code).toBe(0)
  expect(written.out).toMatch(/^Listening on http:\/\/127\.0\.0\.1:\d+\n/)
  expect(written.out).toContain('Broken on purpose: double-charge')
  const keys = written.out.match(/sk-svc-\w{40}/g)!
  expect(keys).toHaveLength(5)
  // The key to copy is that of the largest account, which may send the most.
  expect(written.out).toContain(`  1000000     ${keys[3]}\n\n  export ASSAY_API_KEY=${keys[3]}\n`)
})

test('an unwritable ledger ends the service with one sentence, and holds every acknowledged charge', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-full-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ledger.db')
  // No file may grow beyond 300 blocks of 512 bytes, as on a full disk.
  const child = spawn('sh', [
    '-c',
    `ulimit -f 300; exec "${process.execPath}" "${main}" serve --port 0 --json --tokens 4 --data "${path}"`,
  ])
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const ended = once(child, 'close')
  const { baseUrl, keys } = await ready(child)
  const headers = { authorization: `Bearer ${keys.at(-1)!.apiKey}` }
  const body = JSON.stringify({ model: 'svc-k2', messages: [{ role: 'user', content: 'Hi' }] })
  let told = 0
  for (let nth = 0; nth < 1_000; nth++) {
    const answer = await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })
      .then((response) => response.json())
      .catch(() => null)
    if (answer === null) break
    told++
  }
  expect((await ended)[0]).toBe(1)
  expect(err).toMatch(
    /^The ledger cannot be written: .*\. No request that is missing from it was acknowledged; .*\n$/,
  )
  expect(told).toBeGreaterThan(0)
  const file = new DatabaseSync(path)
  const [{ charged }] = file
    .prepare("SELECT count(*) AS charged FROM entries WHERE kind = 'charge'")
    .all() as [{ charged: number }]
  file.close()
  expect(charged).toBeGreaterThanOrEqual(told)
})
