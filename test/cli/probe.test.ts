import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { changesText } from '../../src/cli/audits/probe-changes.ts'
import {
  type DeploymentProfile,
  type GapAnswer,
  parseDeploymentProfile,
} from '../../src/contract/profile.ts'
import { askedAgain, gapsToAskAgain, profileChanges } from '../../src/probe/diff.ts'
import { startService } from '../../src/service/start.ts'
import { main } from '../e2e/command.ts'

const run = promisify(execFile)

async function assay(args: readonly string[], env: Record<string, string> = {}) {
  const ended = await run(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
  }).catch((error: { code: number; stdout: string; stderr: string }) => error)
  return { code: 'code' in ended ? ended.code : 0, stdout: ended.stdout, stderr: ended.stderr }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'assay-probe-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('a probe that is stopped writes its answers next to the existing complete profile', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 1 })
  onTestFinished(() => service.close())
  const out = join(path, 'profile.yaml')
  writeFileSync(out, 'the whole profile of yesterday')
  const child = spawn(
    process.execPath,
    [main, 'probe', '--base-url', service.baseUrl, '--out', out, '--db', join(path, 'a.duckdb')],
    { env: { ...process.env, ASSAY_API_KEY: service.keys[0]!.apiKey } },
  )
  let told = ''
  child.stdout.on('data', (piece) => {
    told += piece
  })
  // Its first answer.
  let progress = ''
  child.stderr.on('data', (piece) => {
    progress += piece
    // Once: a second signal may find a process that is done and no longer waits for one.
    if (!child.killed && /^G-\d\d /m.test(progress)) child.kill('SIGINT')
  })
  const [code] = await once(child, 'close')
  expect(code).toBe(130)
  expect(readFileSync(out, 'utf8')).toBe('the whole profile of yesterday')
  expect(readFileSync(`${out}.interrupted`, 'utf8')).toContain(
    'the probe was interrupted before it',
  )
  expect(told).toContain(`${out}.interrupted`)
  expect(readdirSync(path).sort()).toEqual(['a.duckdb', 'profile.yaml', 'profile.yaml.interrupted'])
})

test('--only merges answers into the existing profile of the same deployment', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 1 })
  onTestFinished(() => service.close())
  const out = join(path, 'profile.yaml')
  const only = (gap: string, baseUrl = service.baseUrl) =>
    assay(
      [
        ...['probe', '--base-url', baseUrl, '--only', gap, '--out', out],
        ...['--db', join(path, 'a.duckdb'), '--json'],
      ],
      { ASSAY_API_KEY: service.keys[0]!.apiKey },
    )
  expect(await only('G-02')).toMatchObject({ code: 0 })
  expect(await only('G-28')).toMatchObject({ code: 0 })
  const whole = readFileSync(out, 'utf8')
  const { answers, earlier } = parseDeploymentProfile(parseYaml(whole), out)
  expect([answers['G-02'].status, answers['G-28'].status]).toEqual(['answered', 'answered'])
  expect(earlier).toMatchObject([{ gaps: expect.arrayContaining(['G-02']) }])

  expect(await only('G-28', 'http://127.0.0.1:1')).toEqual({
    code: 2,
    stdout: '',
    stderr: `--out: with --only, answers are merged into the existing profile, but ${out} belongs to ${service.baseUrl} by the contract svc, not to http://127.0.0.1:1 by the contract svc; name another file.\n`,
  })
  expect(readFileSync(out, 'utf8')).toBe(whole)
})

test('a service that never settles gets no more reads before the price than a dry run says', {
  tags: 'whole',
}, async () => {
  let balance = 1_000
  let reads = 0
  const server = createServer((_, response) => {
    balance -= 1 + (reads++ % 2)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ remaining: balance }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const path = folder()
  const ended = await assay(
    [
      ...['probe', '--base-url', `http://127.0.0.1:${port}`, '--db', join(path, 'a.duckdb')],
      ...['--out', join(path, 'profile.yaml'), '--only', 'G-02'],
    ],
    { ASSAY_API_KEY: 'k' },
  )
  expect(ended.stderr).toContain(
    'The probe costs up to 7 credits, 6 of them for the reads of the balance so far; it spends at most 600.\n',
  )
  const dry = await assay(['probe', '--dry-run', '--only', 'G-02'])
  expect(dry.stdout).toContain('including up to 6 credits to read the balance first')
  expect(dry.stdout).toMatch(/1-100 +7 credits at most\n/)
})

test('a service without credits gets answers where possible, and reasons elsewhere', {
  tags: 'whole',
}, async () => {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const found = request.url === '/v1/chat/completions'
      response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(
          found
            ? {
                id: 'x',
                object: 'chat.completion',
                created: 1,
                model: 'svc-k2',
                choices: [
                  {
                    index: 0,
                    message: { role: 'assistant', content: 'hi' },
                    finish_reason: 'stop',
                  },
                ],
                usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
              }
            : { error: { message: 'no', type: 'invalid_request_error', code: 'not_found' } },
        ),
      )
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const path = folder()
  const { port } = server.address() as AddressInfo
  const ended = await assay(
    ['probe', '--base-url', `http://127.0.0.1:${port}`, '--db', join(path, 'a.duckdb')].concat([
      '--out',
      join(path, 'profile.yaml'),
      '--time-scale',
      '5000',
      '--json',
    ]),
    { ASSAY_API_KEY: 'secret-key-of-a-test', ASSAY_API_KEY_2: '' },
  )
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('The probe costs') })
  const { answers } = parseDeploymentProfile(JSON.parse(ended.stdout), 'stdout')
  for (const gap of ['G-09', 'G-13', 'G-14', 'G-15', 'G-17', 'G-18', 'G-20', 'G-21'] as const) {
    expect([gap, answers[gap].status]).toEqual([gap, 'not-askable'])
  }
  expect(answers['G-12']).toMatchObject({ is: { chat: 'absent' } })
  for (const file of ['a.duckdb', 'profile.yaml']) {
    expect(readFileSync(join(path, file)).includes('secret-key-of-a-test')).toBe(false)
  }
})

test('a question with only failed requests reports a wrong key as such', {
  tags: 'whole',
}, async () => {
  const service = await startService({ seed: 3 })
  onTestFinished(() => service.close())
  const ended = await assay(
    [
      ...['probe', '--base-url', service.baseUrl, '--only', 'G-26'],
      ...['--db', join(folder(), 'a.duckdb'), '--out', join(folder(), 'profile.yaml')],
    ],
    { ASSAY_API_KEY: 'no-key-of-theirs' },
  )
  expect(ended).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/status 401.*Set ASSAY_API_KEY/),
  })
})

const refusing: readonly (readonly [string, RequestListener, RegExp])[] = [
  [
    'a wrong key',
    (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end('{"error":{"message":"no","type":"x","code":"invalid_api_key"}}')
    },
    /served nothing.*status 401 \(invalid_api_key\)\. Set ASSAY_API_KEY to a key/,
  ],
  [
    'an HTML page for every request',
    (_request, response) => response.end('<html>hello</html>'),
    /served nothing.*status 200\. Expected status 200 and a completion/,
  ],
  [
    'a connection that breaks each time',
    (request) => request.socket.destroy(),
    /gave no answer: a request to credits ended with broken, closed-early\. Is --base-url/,
  ],
]

test.each(refusing)(
  '%s is not a usable service: one sentence, and no profile',
  { tags: 'whole' },
  async (_, on, summary) => {
    const server = createServer(on)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const path = folder()
    const out = join(path, 'profile.yaml')
    const ended = await assay(
      ['probe', '--base-url', `http://127.0.0.1:${port}`, '--db', join(path, 'a.duckdb')].concat([
        ...['--out', out, '--time-scale', '5000'],
      ]),
      { ASSAY_API_KEY: 'key-of-a-test' },
    )
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringMatching(summary) })
    expect(existsSync(out)).toBe(false)
  },
)

test('text from a service cannot control the terminal', { tags: 'whole' }, async () => {
  const said = '\u001b[2J\u009b1m\u202e'
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const error = { code: said, type: said, message: said }
      const isPlain = request.method === 'POST'
      response.writeHead(isPlain ? 200 : 400, { 'content-type': 'application/json' })
      const usage = { input_tokens: 1, output_tokens: 1 }
      const content = [{ type: said, text: said }]
      const message = { id: said, type: 'message', role: 'assistant', model: 'svc-k2', content }
      response.end(JSON.stringify(isPlain ? { ...message, stop_reason: said, usage } : { error }))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const path = folder()
  const probeWith = (...extra: readonly string[]) =>
    assay(
      [
        ...['probe', '--base-url', `http://127.0.0.1:${port}`, '--db', join(path, 'a.duckdb')],
        ...['--out', join(path, 'profile.yaml'), '--time-scale', '5000', ...extra],
      ],
      { ASSAY_API_KEY: 'key-of-a-test' },
    )
  const text = await probeWith('--only', 'G-04,G-05,G-26')
  expect(text.stdout).toContain('stop sequence: \\x1b[2J')
  const json = await probeWith('--only', 'G-04', '--json')
  expect(JSON.parse(json.stdout).answers['G-04'].is['natural end']).toBe(said)
  for (const shown of [text.stdout, text.stderr, json.stdout, json.stderr]) {
    expect(shown).toMatch(/^[\n\x20-\x7e]+$/)
  }
})

test('the command writes a profile, and lists the changes from an older one', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const outOf = (reset: string) => join(path, `${reset}.yaml`)
  const out = outOf('delta-s')
  const probeOf = async (reset: 'delta-s' | 'epoch-ms', extra: readonly string[]) => {
    const service = await startService({ seed: 3, timeScale: 8, profile: { reset } })
    onTestFinished(() => service.close())
    return assay(
      [
        ...['probe', '--base-url', service.baseUrl, '--db', join(path, `${reset}.duckdb`)],
        ...['--only', 'G-02,G-21', '--time-scale', '8', '--out', outOf(reset), ...extra],
      ],
      { ASSAY_API_KEY: service.keys[1]!.apiKey },
    )
  }
  const first = await probeOf('delta-s', [])
  expect(first).toMatchObject({ code: 0 })
  expect(first.stderr).toMatch(
    /^The probe costs up to 11 credits, 2 of them for the reads of the balance so far; it spends at most 600, from a/,
  )
  expect(first.stdout).toContain('G-21  the unit of X-RateLimit-Reset\n      unit: delta-s')
  const profile = parseDeploymentProfile(parseYaml(readFileSync(out, 'utf8')), out)
  expect(profile.answers['G-02']).toMatchObject({ status: 'answered', is: { 'svc-k2.5': false } })
  expect(profile.answers['G-01'].status).toBe('not-asked')
  expect(first.stdout).toContain('\n3 answered, 0 ambiguous, 0 skipped, 34 not asked; ')

  const second = await probeOf('epoch-ms', ['--diff', out])
  expect(second.stdout.replaceAll(/\n {6}/g, ' ')).toContain(
    `Changed since ${out}, and the same when asked once more:\n  G-21  unit: delta-s -> epoch-ms\n`,
  )
  expect(second.stderr).toMatch(/G-21 differs from the profile before, and is asked once more, for/)
  expect(profileChanges(profile, profile)).toEqual([])
})

test('an answer that flips on an unchanged service is asked once more, and is no change', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 3, timeScale: 8 })
  onTestFinished(() => service.close())
  const before = join(path, 'before.yaml')
  const probe = (out: string, ...extra: readonly string[]) =>
    assay(
      [
        ...['probe', '--base-url', service.baseUrl, '--db', join(path, 'a.duckdb')],
        ...['--only', 'G-02', '--time-scale', '8', '--out', out, ...extra],
      ],
      { ASSAY_API_KEY: service.keys[1]!.apiKey },
    )
  await probe(before)
  const profile = parseDeploymentProfile(parseYaml(readFileSync(before, 'utf8')), before)
  const saying = (flag: boolean): DeploymentProfile => ({
    ...profile,
    answers: {
      ...profile.answers,
      'G-02': { ...profile.answers['G-02'], is: { 'svc-k2.5': flag } } as GapAnswer,
    },
  })
  const changes = profileChanges(saying(true), saying(false), ['G-02'])
  expect(gapsToAskAgain(changes)).toEqual(['G-02'])
  expect(askedAgain(changes, saying(true))).toMatchObject([{ again: 'true', mayFlip: true }])
  expect(askedAgain(changes, saying(false))).toMatchObject([{ again: 'false', mayFlip: false }])
  expect(changesText(askedAgain(changes, saying(true)), 'before.yaml')).toBe(
    `Nothing that both probes decided changed since before.yaml.
Different answers of the same probe, so the service need not have changed:
  G-02  svc-k2.5: true -> false, and asked once more: true
`,
  )
  // Without credits for it, the question is not asked again, and the change says so.
  writeFileSync(before, JSON.stringify(saying(true)))
  const { stdout } = await probe(join(path, 'now.yaml'), '--diff', before, '--max-credits', '3')
  expect(stdout.replaceAll(/\n {6}/g, ' ')).toContain('--only G-02 asks again')
  // With them, the profile counts what both askings spent.
  const again = join(path, 'again.yaml')
  await probe(again, '--diff', before)
  const { credits_spent } = parseDeploymentProfile(parseYaml(readFileSync(again, 'utf8')), again)
  expect(credits_spent).toBeGreaterThan(profile.credits_spent)
})

test('a balance that was not restored is told, and nothing is asked once more', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 3, timeScale: 8 })
  onTestFinished(() => service.close())
  const balances: unknown[] = []
  const operator = createServer(async (request, response) => {
    const { balance } = JSON.parse(await text(request))
    if (balance !== undefined) balances.push(balance)
    response.statusCode = balances.length === 1 ? 503 : 200
    response.end(JSON.stringify({ account: 1 }))
  })
  await new Promise<void>((done) => operator.listen(0, '127.0.0.1', done))
  onTestFinished(() => void operator.close())
  const { port } = operator.address() as AddressInfo
  const before = join(path, 'before.yaml')
  const probe = (...extra: readonly string[]) =>
    assay(
      [
        ...['probe', '--base-url', service.baseUrl, '--db', join(path, 'a.duckdb')],
        ...['--only', 'G-02', '--time-scale', '8', ...extra],
      ],
      { ASSAY_API_KEY: service.keys[1]!.apiKey, ASSAY_OPERATOR_KEY: 'operator' },
    )
  await probe('--out', before)
  const profile = parseYaml(readFileSync(before, 'utf8'))
  profile.answers['G-02'].is = { 'svc-k2.5': true }
  writeFileSync(before, JSON.stringify(profile))
  const out = join(path, 'now.yaml')
  const ended = await probe(
    '--operator',
    `http://127.0.0.1:${port}`,
    '--diff',
    before,
    '--out',
    out,
  )
  expect(ended.code).toBe(3)
  expect(ended.stdout.replaceAll(/\n {6}/g, ' ')).toContain('--only G-02 asks again')
  expect(ended.stderr.replaceAll(/\n {6}/g, ' ')).toContain(
    `The balance before the probe was ${balances[0]} credits, and the operator could not restore it: `,
  )
  expect(balances).toHaveLength(1)
})

test('a stopped probe that could not restore the balance ends with code 3', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 3, timeScale: 8 })
  onTestFinished(() => service.close())
  const operator = createServer(async (request, response) => {
    const { balance } = JSON.parse(await text(request))
    response.statusCode = balance === undefined ? 200 : 503
    response.end(JSON.stringify({ account: 1 }))
  })
  await new Promise<void>((done) => operator.listen(0, '127.0.0.1', done))
  onTestFinished(() => void operator.close())
  const { port } = operator.address() as AddressInfo
  const child = spawn(
    process.execPath,
    [
      ...[main, 'probe', '--base-url', service.baseUrl, '--operator', `http://127.0.0.1:${port}`],
      ...['--only', 'G-02,G-09,G-17', '--time-scale', '8'],
      ...['--out', join(path, 'profile.yaml'), '--db', join(path, 'a.duckdb')],
    ],
    {
      env: {
        ...{ ...process.env, ASSAY_API_KEY: service.keys[1]!.apiKey },
        ASSAY_OPERATOR_KEY: 'operator',
      },
    },
  )
  let progress = ''
  child.stderr.on('data', (piece) => {
    progress += piece
    // Once: a second signal may find a process that is done and no longer waits for one.
    if (!child.killed && /^G-\d\d /m.test(progress)) child.kill('SIGINT')
  })
  const [code] = await once(child, 'close')
  expect(progress.replaceAll(/\n {6}/g, ' ')).toContain('the operator could not restore it: ')
  expect(readFileSync(join(path, 'profile.yaml'), 'utf8')).toContain(
    'the probe was interrupted before it',
  )
  expect(code).toBe(3)
})

test('a change that one of two probes did not decide says that it may flip', {
  tags: 'whole',
}, async () => {
  const path = folder()
  const service = await startService({ seed: 3, timeScale: 8 })
  onTestFinished(() => service.close())
  const probe = (...extra: readonly string[]) =>
    assay(
      [
        ...['probe', '--base-url', service.baseUrl, '--db', join(path, 'a.duckdb')],
        ...['--only', 'G-02', '--time-scale', '8', '--out', join(path, 'now.yaml'), ...extra],
      ],
      { ASSAY_API_KEY: service.keys[1]!.apiKey },
    )
  await probe()
  const now = parseYaml(readFileSync(join(path, 'now.yaml'), 'utf8'))
  const before = join(path, 'before.yaml')
  const open = { 'G-02': { status: 'not-askable', why: 'too few credits' } }
  writeFileSync(before, JSON.stringify({ ...now, answers: { ...now.answers, ...open } }))
  const { stdout } = await probe('--diff', before)
  expect(stdout.replaceAll(/\n {6}/g, ' ')).toContain(
    `Nothing that both probes decided changed since ${before}.\nNot decided by both probes, so it may flip on an unchanged service (--only G-02 asks again):`,
  )
  expect(stdout).toContain('  G-02  svc-k2.5: not known -> false\n')
  const parsed = (each: object) => parseDeploymentProfile(each, 'a.yaml')
  const changes = profileChanges(
    parsed({ ...now, answers: { ...now.answers, ...open } }),
    parsed(now),
  )
  expect(changes.length).toBeGreaterThan(0)
  expect(changes.every(({ mayFlip }) => mayFlip)).toBe(true)
})

test('--only takes an empty part, but not only empty ones, and a dry run reads the file of --diff', async () => {
  const probe = (...more: readonly string[]) =>
    assay(['probe', '--dry-run', '--json', '--base-url', 'http://127.0.0.1:9', ...more])
  const [one, empty, missing] = [
    await probe('--only', 'G-01,'),
    await probe('--only', ','),
    await probe('--diff', join(folder(), 'nofile.yaml')),
  ]
  expect([one.code, one.stderr]).toEqual([0, ''])
  expect(empty.code).toBe(2)
  expect(empty.stderr).toContain('there is no question in it; questions are G-01 to G-37.')
  expect(missing.code).toBe(2)
  expect(missing.stderr).toContain('nofile.yaml')
})

test('usage errors are one sentence each, with exit code 2', { tags: 'whole' }, async () => {
  const noUrl = await assay(['probe'], { ASSAY_API_KEY: 'k' })
  expect(noUrl).toMatchObject({ code: 2, stderr: expect.stringContaining('--base-url: expected') })
  const noKey = await assay(['probe', '--base-url', 'http://127.0.0.1:1'], { ASSAY_API_KEY: '' })
  expect(noKey).toMatchObject({ code: 2, stderr: expect.stringContaining('ASSAY_API_KEY') })
  const twoKeys = await assay(['probe', '--base-url', 'http://127.0.0.1:1'], {
    ASSAY_API_KEY: 'sk-one\nsk-two',
  })
  expect(twoKeys).toMatchObject({ code: 2, stderr: expect.stringContaining('one API key there') })
  expect(twoKeys.stderr).not.toContain('sk-')
  const noFolder = await assay(
    ['probe', '--base-url', 'http://127.0.0.1:1', '--out', join(folder(), 'no', 'profile.yaml')],
    { ASSAY_API_KEY: 'k' },
  )
  expect(noFolder).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^--out: expected a file that can be written; got .*no such file/,
    ),
  })
  const noNumber = await assay(['probe', '--dry-run', '--max-credits', 'many'])
  expect(noNumber).toMatchObject({ code: 2, stderr: expect.stringContaining('got many') })
  const stranger = await assay(['probe', '--only', 'G-99'])
  expect(stranger).toMatchObject({ code: 2, stderr: expect.stringContaining('G-99') })
  const nobody = await assay(['probe', '--base-url', 'http://127.0.0.1:9'], { ASSAY_API_KEY: 'k' })
  expect(nobody).toMatchObject({ code: 4, stderr: expect.stringContaining('never reached') })
})

test('a dry run sends nothing and names a price for each band', async () => {
  const ended = await assay(['probe', '--dry-run'])
  expect(ended.code).toBe(0)
  expect(ended.stdout).toMatch(/1-100 +\d+ credits at most\n101-1000 +\d+ credits at most/)
})
