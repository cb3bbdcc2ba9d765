import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import type { AuditReport } from '../../src/audit/audit.ts'
import { jsonText, junitText, markdownText } from '../../src/audit/format/machine.ts'
import { printable } from '../../src/audit/format/printable.ts'
import { atOnce, curlOf } from '../../src/audit/format/reproduce.ts'
import { sarifText } from '../../src/audit/format/sarif.ts'
import { summary, terminalText } from '../../src/audit/format/terminal.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { shownBadKey } from '../../src/client/call/wrong.ts'

const finding = (rule: string, verdict: Finding['verdict']): Finding => ({
  rule,
  severity: 'must',
  title: `what ${rule} says`,
  verdict,
})
const inconclusive = (why: string) => ({ verdict: 'inconclusive', observations: 1, why }) as const
const hostile = '\u001b[2J<script>alert(1)</script>\u202e'
const report: AuditReport = {
  auditId: 'id',
  auditedAt: new Date(0),
  contract: 'svc',
  runs: [{ runId: 'r', scenario: 's', baseUrl: 'http://127.0.0.1:1', attempts: 1234, before: 4 }],
  findings: [
    finding('AA-01', { verdict: 'pass', observations: 7 }),
    finding('AA-02', { verdict: 'not-observed', requires: 'a 5xx' }),
    finding('AA-03', { verdict: 'inconclusive', observations: 1, why: 'it fits both' }),
    finding('AA-04', {
      verdict: 'fail',
      observations: 3,
      expected: 'this',
      observed: hostile,
      witnesses: [{ runId: 'r', slot: 5, retry: 1, shows: hostile }],
    }),
  ],
}
const commands = new Map([['AA-04', 'curl x']])

test('the terminal ends with failures, after undecided rules and counts of the others', () => {
  const text = terminalText(report, commands)
  const order = [
    'NOT OBSERVED  1 rule (AA 1); --verbose says what each takes',
    'PASSED  1 rule, decided by 7',
    'INCONCLUSIVE  AA-03',
    'FAILED  AA-04',
  ]
  expect(order.filter((part) => !text.includes(part))).toEqual([])
  expect(order.map((part) => text.indexOf(part))).toEqual(
    order.map((part) => text.indexOf(part)).sort((a, b) => a - b),
  )
  expect(text).not.toContain('a 5xx')
  expect(terminalText(report, commands, { verbose: true })).toContain('AA-02     a 5xx')
  expect(text).toContain('1,234 attempts (4 of them before the load), against')
  expect(text).toContain('reproduce curl x')
  expect(text).toContain('attempt 5 of run r, retry 1')
  expect(text.trimEnd().split('\n').at(-1)).toBe(
    '1 failed, 1 inconclusive, 1 not observed, 1 passed',
  )
})

test('on a narrow terminal only commands exceed a line, and no word is cut', () => {
  const long = 'a sentence that goes on for longer than a narrow terminal is wide, and ends here'
  const wide = {
    ...report,
    findings: [
      {
        ...finding('AA-05', {
          verdict: 'fail' as const,
          observations: 1,
          expected: long,
          observed: long,
          witnesses: [{ runId: '20260101-000000-abcd', slot: 66, retry: 0, shows: long }],
        }),
        title: long,
      },
    ],
  }
  const text = terminalText(wide, new Map([['AA-05', `curl ${'x'.repeat(90)}`]]), { width: 60 })
  const [longest, next] = text.split('\n').sort((a, b) => b.length - a.length)
  expect(longest).toContain('curl')
  expect(next!.length).toBeLessThanOrEqual(60)
  expect(text).toContain('  requests  attempt 66 of run 20260101-000000-abcd: a')
})

test('text from a service cannot move the cursor, forge a line or become markup', () => {
  expect(printable('a\u001b[31m\nb\u202e')).toBe('a\\x1b[31m\\x0ab\\u202e')
  expect(terminalText(report, commands)).not.toContain('\u001b')
  expect(junitText(report, commands)).not.toContain('<script>')
  expect(markdownText(report, commands)).not.toContain('<script>')
  for (const text of [
    junitText(report, commands),
    sarifText(report, commands),
    markdownText(report, commands),
  ]) {
    expect([...text].filter((character) => '\u001b\u202e'.includes(character))).toEqual([])
  }
})

test('a line break in text from a service does not start a new line', () => {
  const forged = '0 failed, 0 inconclusive, 0 not observed, 102 passed'
  const observed = `200\r\n${forged}\n\n# ${forged}`
  const text = 'a service said so'
  const findings = (said: string) => [
    finding('AA-01', { verdict: 'pass', observations: 7, note: said }),
    finding('AA-03', { verdict: 'inconclusive', observations: 1, why: said }),
    finding('AA-04', {
      ...{ verdict: 'fail', observations: 3, expected: 'this', observed: said, note: said },
      witnesses: [{ runId: 'r', slot: 5, retry: 1, shows: said }],
    }),
  ]
  for (const write of [
    (of: AuditReport) => terminalText(of, commands, { verbose: true }),
    (of: AuditReport) => markdownText(of, commands),
  ]) {
    const honest = write({ ...report, findings: findings(text) }).split('\n')
    const hostileLines = write({ ...report, findings: findings(observed) }).split('\n')
    expect(hostileLines).toHaveLength(honest.length)
    expect(hostileLines.filter((each) => each.replace(/^[# ]+/, '') === forged)).toEqual([])
  }
})

test('JUnit and SARIF hold the command that reproduces a failure', () => {
  expect(junitText(report, commands)).toContain('&#10;reproduce: curl x</failure>')
  const { runs } = JSON.parse(sarifText(report, commands))
  const results: { ruleId: string; properties?: { again: string } }[] = runs[0].results
  expect(results.find(({ ruleId }) => ruleId === 'AA-04')?.properties).toEqual({ again: 'curl x' })
})

test('SARIF has what code scanning pages require: a file for each result, help for each rule', () => {
  const [run] = JSON.parse(sarifText(report, commands)).runs
  expect(run.results.length).toBe(2)
  for (const { locations, partialFingerprints, ruleId } of run.results) {
    expect(locations).toHaveLength(1)
    for (const { physicalLocation } of locations) {
      expect(physicalLocation).toEqual({
        artifactLocation: { uri: 'scenarios/s.yaml' },
        region: { startLine: 1 },
      })
    }
    expect(partialFingerprints).toEqual({ primaryLocationLineHash: `${ruleId}:1` })
  }
  for (const { fullDescription, help, shortDescription } of run.tool.driver.rules) {
    expect([fullDescription.text, help.text, shortDescription.text]).not.toContain('')
  }
})

test('text from a service is escaped in XML, tickets and JSON', () => {
  const said = '\uffff\ud800 $x$ ~~y~~ \u009b2J\u061c'
  const of = { ...report, findings: [{ ...report.findings[2]!, verdict: inconclusive(said) }] }
  expect(junitText(of, commands)).toMatch(/^[\t\n\r\x20-\x7e]+$/)
  expect(markdownText(of, commands)).toContain('\\$x\\$ \\~\\~y')
  expect(jsonText(of, commands)).toMatch(/^[\n\x20-\x7e]+$/)
  expect(JSON.parse(jsonText(of, commands)).findings[0].verdict.why).toBe(said)
})

test('JUnit counts undecided rules as skipped, never as passed', () => {
  const xml = junitText(report, commands)
  expect(xml).toContain('tests="4" failures="1" errors="0" skipped="2" time="0"')
  expect(xml.match(/<skipped/g)).toHaveLength(2)
})

test('JUnit has what its common schemas require, and no unknown elements', () => {
  const xml = junitText(report, commands)
  const elements = [...xml.matchAll(/<(\w[\w-]*)((?: [\w-]+="[^"<]*")*)\s*\/?>/g)].map(
    ([, name, attributes]) => ({
      name: name!,
      attributes: [...attributes!.matchAll(/ ([\w-]+)=/g)].map(([, attribute]) => attribute!),
    }),
  )
  const required: Readonly<Record<string, readonly string[]>> = {
    testsuites: [],
    testsuite: ['name', 'tests', 'failures', 'errors', 'skipped', 'time', 'timestamp'],
    testcase: ['classname', 'name', 'time'],
    failure: ['type', 'message'],
    skipped: ['message'],
  }
  for (const { name, attributes } of elements)
    expect([name, attributes]).toEqual([name, required[name]])
  expect(elements.filter(({ name }) => name === 'testcase')).toHaveLength(4)
  expect(xml).toMatch(/timestamp="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"/)
})

test('SARIF has the fields that 2.1.0 requires, and declares each rule that its results name', () => {
  const { $schema, version, runs } = JSON.parse(sarifText(report, commands))
  expect([$schema, version, runs.length]).toEqual([
    'https://json.schemastore.org/sarif-2.1.0.json',
    '2.1.0',
    1,
  ])
  const [{ tool, results }] = runs
  expect(tool.driver.name).toBe('assay')
  const ids = tool.driver.rules.map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { ruleId, level, message, locations } of results) {
    expect(ids).toContain(ruleId)
    expect(['none', 'note', 'warning', 'error']).toContain(level)
    expect(message.text).toMatch(/./)
    const attempts = locations.flatMap(
      ({ logicalLocations }: { logicalLocations?: readonly { fullyQualifiedName: string }[] }) =>
        logicalLocations?.map(({ fullyQualifiedName }) => fullyQualifiedName) ?? [],
    )
    expect(attempts).toEqual(level === 'error' ? ['attempt 5 of run r, retry 1'] : [])
  }
})

test('each format matches its golden file', async () => {
  const golden = (name: string) => `golden/${name}`
  await expect(terminalText(report, commands, { width: 80 })).toMatchFileSnapshot(
    golden('terminal.txt'),
  )
  await expect(jsonText(report, commands)).toMatchFileSnapshot(golden('audit.json.txt'))
  await expect(junitText(report, commands)).toMatchFileSnapshot(golden('audit.junit.xml'))
  await expect(sarifText(report, commands)).toMatchFileSnapshot(golden('audit.sarif.txt'))
  await expect(markdownText(report, commands)).toMatchFileSnapshot(golden('audit.md'))
})

test('SARIF has results for the failure and the inconclusive rule, JSON has all findings', () => {
  const sarif = JSON.parse(sarifText(report, commands))
  expect(sarif.runs[0].results.map((each: { level: string }) => each.level)).toEqual([
    'note',
    'error',
  ])
  const json = JSON.parse(jsonText(report, commands))
  expect(json.findings).toHaveLength(4)
  expect(json.findings[3].again).toBe('curl x')
})

test('a curl command keeps quotes of the request and takes the key from the environment', () => {
  const command = curlOf({
    baseUrl: 'http://127.0.0.1:1/base',
    method: 'POST',
    path: '/base/v1/x',
    headers: '{"authorization":"Bearer $ASSAY_API_KEY"}',
    body: `{"a":"it's $HOME"}`,
    keys: null,
    account: null,
  })
  expect(command).toBe(
    `curl -sS -i -X POST -H 'authorization: Bearer '"$ASSAY_API_KEY" --data-raw '{"a":"it'\\''s $HOME"}' 'http://127.0.0.1:1/base/v1/x'`,
  )
})

test('a command takes the key from the variable that the run used, and ignores an invalid name', () => {
  const asked = {
    ...{ baseUrl: 'http://127.0.0.1:1', method: 'GET', path: '/v1/models', body: null },
    headers: '{"x-api-key":"$ASSAY_API_KEY"}',
    account: 'low',
  }
  const keyed = (env: string) =>
    JSON.stringify([
      { account: 'high', source: { env: 'ASSAY_KEY_10003' } },
      { account: 'low', source: { env } },
    ])
  const command = (variable: string) =>
    `curl -sS -i -H 'x-api-key: '"${variable}" 'http://127.0.0.1:1/v1/models'`
  expect(curlOf({ ...asked, keys: keyed('ASSAY_KEY_103') })).toBe(command('$ASSAY_KEY_103'))
  expect(curlOf({ ...asked, keys: keyed('(reboot)') })).toBe(command('$ASSAY_API_KEY'))
  expect(curlOf({ ...asked, keys: '[]' })).toBe(command('$ASSAY_API_KEY'))
})

/** The arguments and the input that a shell gives to curl. */
function started(command: string, key: string) {
  const { stdout } = spawnSync('sh', {
    input: `curl() { printf '%s\\n' "$@"; echo; cat; }\n${command}`,
    env: { ...process.env, ASSAY_API_KEY: key },
    encoding: 'utf8',
  })
  const end = stdout.indexOf('\n\n')
  return { arguments: stdout.slice(0, end).split('\n'), input: stdout.slice(end + 2) }
}

test('a command alters the key in the same way as the request did', () => {
  const sent = (shown: string, key: string) =>
    started(
      curlOf({
        ...{ baseUrl: 'http://127.0.0.1:1', method: 'GET', path: '/v1/models', body: null },
        ...{
          headers: JSON.stringify({ authorization: `Bearer ${shown}` }),
          keys: null,
          account: null,
        },
      }),
      key,
    ).arguments.at(-2)
  expect(sent(shownBadKey.recased, 'sk-aB9')).toBe('authorization: Bearer SK-Ab9')
  expect(sent(shownBadKey.altered, 'sk-aB9')).toBe('authorization: Bearer sk-aB0')
  expect(sent(shownBadKey.altered, 'sk-aB0')).toBe('authorization: Bearer sk-aB1')
  expect(sent('$ASSAY_API_KEY', "it's")).toBe("authorization: Bearer it's")
})

test('a body too long for a command line is passed on standard input', () => {
  const body = `{"a":"it's $HOME \\n END-OF-BODY \`x\`${'long '.repeat(100_000)}"}`
  const asked = { baseUrl: 'http://127.0.0.1:1', method: 'POST', path: '/v1/x', headers: '{}' }
  const command = curlOf({ ...asked, body, keys: null, account: null })
  expect(started(command, 'k')).toEqual({
    arguments: ['-sS', '-i', '-X', 'POST', '--data-binary', '@-', 'http://127.0.0.1:1/v1/x'],
    input: `${body}\n`,
  })
})

test('a command with signs that no terminal shows is printed with escapes of JSON, and sends the same JSON', () => {
  const asked = { baseUrl: 'http://127.0.0.1:1', method: 'POST', path: '/v1/x', headers: '{}' }
  // A soft hyphen, the next line of a mainframe, and a mark that turns the direction of text.
  const sent = { content: 'co\u00adoperate \u0085 \u202e' }
  const command = curlOf({ ...asked, body: JSON.stringify(sent), keys: null, account: null })
  const commands = new Map([['AA-04', command]])
  const line = /reproduce (curl .*)/.exec(terminalText(report, commands))![1]!
  expect(JSON.parse(started(line, 'k').arguments.at(-2)!)).toEqual(sent)
})

test('requests that together broke a rule are reproduced concurrently, whatever their length', () => {
  const asked = { baseUrl: 'http://127.0.0.1:1', method: 'POST', path: '/v1/x', headers: '{}' }
  const long = curlOf({ ...asked, body: 'long '.repeat(100_000), keys: null, account: null })
  const short = curlOf({ ...asked, body: 'short', keys: null, account: null })
  expect(atOnce([short, short])).toBe(`${short} & ${short} & wait`)
  const { stdout } = spawnSync('sh', {
    input: `curl() { if [ "$5" = --data-raw ]; then echo "$6"; else wc -c; fi; }\n${atOnce([long, short])}`,
    encoding: 'utf8',
  })
  expect(stdout.trim().split('\n').toSorted()).toEqual(['500001', 'short'])
})

test('advice is not counted as a failure in the last line', () => {
  const advised = { ...report.findings[3]!, rule: 'AA-05', severity: 'advice' as const }
  expect(summary({ ...report, findings: [...report.findings, advised] })).toBe(
    '1 failed, 1 advised, 1 inconclusive, 1 not observed, 1 passed',
  )
})

test('at 80 columns sentences wrap between words with an indent, and commands do not wrap', () => {
  const command = `curl ${'-H x '.repeat(30)}`
  const observed = 'one word after another '.repeat(8).trim()
  const long = finding('AA-05', {
    verdict: 'fail',
    observations: 1,
    expected: 'this',
    observed,
    witnesses: [{ runId: 'r', slot: 5, retry: 0, shows: 'it' }],
  })
  const text = terminalText({ ...report, findings: [long] }, new Map([['AA-05', command]]), {
    width: 80,
  })
  const lines = text.split('\n')
  const first = lines.findIndex((line) => line.startsWith('  observed  one word'))
  expect(lines.slice(first, first + 3).map((line) => line.length <= 80)).toEqual([true, true, true])
  expect(lines[first + 1]).toMatch(/^ {12}\S/)
  expect(
    lines
      .slice(first, first + 3)
      .map((line) => line.slice(12))
      .join(' '),
  ).toBe(observed)
  expect(text).toContain(`  reproduce ${command}\n`)
})
