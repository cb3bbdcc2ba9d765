import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { program } from '../../src/cli/commands/program.ts'
import { reportCommand } from '../../src/cli/commands/report.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { openStore } from '../../src/public/store.ts'
import { importFile } from '../../src/store/import/import-file.ts'
import { parseMapping } from '../../src/store/import/mapping.ts'
import { seededStore } from '../report/seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-kinds-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const events = (source: string, account: string, credits: number, day: number) =>
  `{"id":"${source}${day}","at":"2026-11-0${day}T23:30:00Z","model":"m","account":"${account}","key":"sk-${account}","credits":${credits},"source":"${source}"}\n`

beforeAll(async () => {
  const store = await seededStore({ attempts: 100, path: at('s.duckdb') })
  const map =
    'fields: { id: id, time: at, model: model, account: account, key: key, credits: credits }'
  for (const [source, lines] of [
    ['log', events('log', 'acme', 12, 2) + events('log', 'beta', 6, 3)],
    ['other', events('other', 'acme', 100, 4)],
  ] as const) {
    writeFileSync(at(`${source}.jsonl`), lines)
    await importFile(store, {
      file: at(`${source}.jsonl`),
      mapping: parseMapping(`source: ${source}\n${map}`),
    })
  }
  store.close()
  writeFileSync(
    at('settings.yaml'),
    'product: Acme\ntokens: { algorithm: HS256, secretEnv: SECRET }\naccounts: { acme: { label: Acme Ltd } }\n',
  )
  writeFileSync(at('grants.yaml'), '- { name: a, credits: 500, expires: "2027-01-01" }\n')
  writeFileSync(
    at('contract.yaml'),
    `name: ${defaultContract.name}\nextends: none\ncurrency: USD\ncharged: { success: full }\nmodels:\n  - { id: svc-k2, price: { input: 4, output: 20 } }\n`,
  )
})

/** What a command prints, or its first error; run in this process. */
async function said(line: string): Promise<string> {
  let printed = ''
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed += text
      return true
    }),
  )
  const words = `report ${line} --db @s.duckdb`.replaceAll('@', `${folder}/`).split(' ')
  const error = await program()
    .parseAsync(words, { from: 'user' })
    .then(
      () => null,
      ({ message }: Error) => message,
    )
  for (const spy of spies) spy.mockRestore()
  return error ?? printed
}

/** A value of each option, with which the text of a page is another. */
const values: Readonly<Record<string, string>> = {
  ...{ timezone: 'Asia/Kolkata', from: '2026-11-03', to: '2026-11-04', by: 'key', source: 'log' },
  ...{ account: 'acme', key: 'nobody', engine: 'clickhouse://nowhere.invalid/db' },
  ...{ quarters: '@nope.parquet', grants: '@grants.yaml', 'key-names': '@nope.yaml' },
  ...{ 'credit-price': '2', reports: '@nope', contract: '@contract.yaml', profile: '@nope.yaml' },
  ...{ png: '@png', settings: '@settings.yaml', each: '@each', log: '@nope.jsonl', alone: '' },
  ...{ anonymous: '', choose: 'a=b', upload: 'ftp://nowhere', json: '' },
}
const refusal = / does nothing with report | needs --out: a file| takes no runs| has no such format/

test('the options of the pairs are all that the command has', () => {
  const own = reportCommand().options.map(({ long }) => long!.slice(2))
  expect(Object.keys(values).toSorted()).toEqual(
    own.filter((name) => !['db', 'format', 'for', 'out'].includes(name)).toSorted(),
  )
})

/** Every option of every text that does something; each other one is refused. */
const taken = {
  launch: { md: 'contract', json: 'contract', csv: '' },
  run: { md: 'contract', json: 'contract', csv: '' },
  audit: { md: 'contract', json: 'contract', csv: '' },
  usage: {
    md: 'timezone from to by source account key engine quarters grants key-names contract settings',
    json: 'timezone from to by source account key engine quarters grants key-names credit-price contract settings',
    csv: 'timezone from to by source account key engine quarters key-names contract',
  },
  // Options that a page has are not asked once more.
  'usage --by account --settings @settings.yaml --from 2026-03-01 --to 2026-12-01': {
    md: 'engine contract',
    json: 'engine contract',
    csv: 'engine contract',
  },
}

test.each(
  Object.entries(taken).flatMap(([page, of]) => Object.entries(of).map((each) => [page, ...each])),
)(
  'report %s --format %s takes what changes it, and refuses each other option',
  { tags: 'whole' },
  async (page, format, names) => {
    const asked = `${page} --format ${format}`
    const base = await said(asked)
    const doing: string[] = []
    for (const [option, value] of Object.entries(values)) {
      if (page!.includes(`--${option} `)) continue
      const told = await said(`${asked} --${option} ${value}`.trim())
      if (refusal.test(told)) continue
      doing.push(option)
      expect([option, told]).not.toEqual([option, base])
    }
    expect(doing.join(' ')).toBe(names)
  },
)

const customers = 'usage --by account --settings @settings.yaml'
const customer = 'usage --for customer --account acme --settings @settings.yaml'
test.each([
  [
    `${customers} --format csv --source log`,
    '--source does nothing with report usage --by account --settings --format csv. Leave it out, or use report usage.',
  ],
  [
    `${customers} --account beta`,
    '--account does nothing with report usage --by account --settings. Leave it out, or use report usage or report usage --for customer.',
  ],
  [
    `${customers} --format csv --credit-price 2`,
    '--credit-price does nothing with report usage --by account --settings --format csv. Leave it out, or use report usage --format html|json.',
  ],
  [
    `usage nowhere --by account --settings @settings.yaml`,
    'nowhere: report usage --by account --settings takes no runs. Leave it out.',
  ],
  [
    `${customer} --quarters @nope.parquet`,
    '--quarters does nothing with report usage --for customer. Leave it out, or use report usage.',
  ],
  [
    `${customer} --each @each`,
    '--each does nothing with report usage --for customer. Leave it out, or use report usage --by account --settings --format html.',
  ],
  [
    `${customer} --format csv`,
    '--format csv: report usage --for customer has no such format. Leave it out.',
  ],
  [
    'usage --each @each',
    '--each does nothing with report usage. Leave it out, or use report usage --by account --settings --format html.',
  ],
  [
    'usage --format csv --png @png',
    '--png does nothing with report usage --format csv. Leave it out, or use report launch --format html, report run --format html, report audit --format html or report usage --format html.',
  ],
  ['usage --format csv --upload s3://bucket/x', '--upload with --format csv needs --out: a file.'],
  [
    'usage --format csv --key sk-abcdefgh',
    '--key: number 1 may be an API key. Give its fingerprint, the first 12 digits of its SHA-256, or its name.',
  ],
  ['audit --format json --json', '--json with --format json needs --out: a file.'],
  [
    'audit --log @log.jsonl',
    '--log does nothing with report audit. Leave it out, or use report audit --for vendor.',
  ],
  [
    'audit --for vendor --timezone UTC',
    '--timezone does nothing with report audit --for vendor. Leave it out, or use report launch --format html, report run --format html, report audit --format html or report usage.',
  ],
  [
    `${customers} --out @pages/all.html --each @each --upload s3://bucket/x`,
    `--upload: the page of all links to those in ${at('each')}, which is not in its folder ${at('pages')}. Choose --each in it.`,
  ],
])('report %s is refused', async (line, words) => {
  expect(await said(line)).toBe(words)
})

test('the names of all written files are printed', async () => {
  expect(JSON.parse(await said('usage --format csv --out @u.csv --json'))).toEqual({
    ...{ page: 'usage', out: at('u.csv'), pictures: [] },
  })
  const line = `${customers} --contract @contract.yaml --out @all.html --each @pages`
  const pages = JSON.parse(await said(`${line} --json`)).pages as readonly string[]
  expect(pages.toSorted()).toEqual(
    readdirSync(at('pages'))
      .map((name) => join(at('pages'), name))
      .toSorted(),
  )
  expect(pages.length).toBeGreaterThan(1)
  expect((await said(line)).split('\n').slice(0, -2)).toEqual([at('all.html'), ...pages])
})

test('a key is chosen by the name that a log has in place of its fingerprint', async () => {
  const map = 'fields: { id: id, time: at, account: account, keyFp: key, credits: credits }'
  const line = (id: string, key: string, credits: number) =>
    `${JSON.stringify({ id, at: '2026-11-05T09:00:00Z', account: 'named', key, credits })}\n`
  const id = '0d9c1f6e-7a52-4c1b-9b1e-5f3c2a7d8e90'
  writeFileSync(at('named.jsonl'), line('a', 'billing', 6) + line('b', id, 3))
  const store = await openStore(at('s.duckdb'))
  await importFile(store, {
    file: at('named.jsonl'),
    mapping: parseMapping(`source: named\n${map}`),
  })
  store.close()
  const used = async (key: string) =>
    JSON.parse(await said(`usage --format json --account named --key ${key}`)).topKeys
  expect(await used('billing')).toMatchObject([{ credits: 6, requests: 1 }])
  expect(await used(id)).toMatchObject([{ credits: 3, requests: 1 }])
})

test('the page for a vendor takes its only format', async () => {
  expect(await said('audit --for vendor --out @vendor --format html')).toContain(
    at('vendor/findings.html'),
  )
})
