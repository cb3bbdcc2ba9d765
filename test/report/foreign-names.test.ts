import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { renderBoard } from '../../src/report/usage/board/board.ts'
import { initial } from '../../src/report/usage/board/choice.js'
import type { BoardData } from '../../src/report/usage/board/data.ts'
import { html } from '../../src/user/html.ts'
import { main } from '../e2e/command.ts'
import { env, everyPath, served, settingsOf, settingsText, tokenOf } from '../portal/portal.ts'
import { enterEvents, utc } from './usage-events.ts'

/** Names that every object has, and some that mean something where they are written. */
const names = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...[
    'prototype',
    'length',
    'name',
    '(other)',
    '(unknown)',
    'null',
    '__index__',
    "a'b",
    '{credits}',
  ],
]
const folder = mkdtempSync(join(tmpdir(), 'assay-names-'))
afterAll(() => rmSync(folder, { recursive: true }))

const wrong = /a bug in Assay|\[native code\]|\[object |undefined|"name":\s*\{/

/** The browser draws the data of a page by whatever its reader chooses: by each dimension, and each name alone. */
function expectDrawn(page: string): void {
  const data = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as BoardData
  const first = initial(data)
  const choices = (['model', 'key', 'endpoint'] as const).flatMap((name) => [
    { ...first, by: name },
    ...data.names[name].map((each) => ({ ...first, [name]: each })),
  ])
  for (const choice of choices) {
    const drawn = renderBoard(data, html``, choice).text.replace(/<script[\s\S]*/, '')
    expect(drawn).not.toMatch(wrong)
    const isWhole = choice.model + choice.key + choice.endpoint === ''
    // These two are said in words.
    for (const name of isWhole ? data.names[choice.by] : [])
      if (name !== '(other)' && name !== '(unknown)') expect(drawn).toContain(html`${name}`.text)
  }
}

test('every endpoint and page answers for names that every object has, in every column', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        account: fc.constantFrom(...names),
        model: fc.constantFrom(...names),
        endpoint: fc.constantFrom(...names),
        keyFp: fc.constantFrom(...names),
        errorCode: fc.constantFrom(...names),
        unit: fc.constantFrom('credits', ...names),
      }),
      async ({ account, model, endpoint, keyFp, errorCode, unit }) => {
        const quoted = JSON.stringify(account)
        const settings = settingsOf(
          `accounts: { ${quoted}: { label: "it is ${quoted.slice(1, -1).replaceAll("'", '')}", grants: [{ name: ${quoted}, credits: 9 }], budget: '1' } }\n`,
        )
        const service = await served([], settings, (store) =>
          enterEvents(
            store,
            Array.from({ length: 80 }, (_, hour) => ({
              ...{ atUs: utc(2026, 11, 24, hour), account, unit },
              // A legend names only what is beside another.
              ...(hour % 2 === 0 ? { model, endpoint, keyFp } : {}),
              ...(hour % 5 === 0 ? { outcome: 'http_error', status: 429, errorCode } : {}),
            })),
          ),
        )
        try {
          for (const path of everyPath) {
            const answer = await service.ask(path, await tokenOf(account))
            const text = Buffer.from(await answer.arrayBuffer()).toString('latin1')
            expect([path, answer.status]).toEqual([path, 200])
            if (!path.includes('parquet'))
              expect(text.replace(/<script[\s\S]*/, '')).not.toMatch(wrong)
            if (path.startsWith('/page')) expectDrawn(text)
          }
          const by = async (dimension: string, name: string) => {
            const query = new URLSearchParams({
              from: '2026-11-01',
              to: '2026-12-01',
              by: dimension,
              [dimension]: name,
            })
            const answer = await service.ask(`/v1/usage/breakdown?${query}`, await tokenOf(account))
            return ((await answer.json()) as { rows: { name: string }[] }).rows.map(
              (row) => row.name,
            )
          }
          expect(await by('model', model)).toEqual([model])
          expect(await by('endpoint', endpoint)).toEqual([endpoint])
          const label = (await (
            await service.ask('/v1/account', await tokenOf(account))
          ).json()) as { label: string }
          expect(label.label).toMatch(/^it is /)
          const odd = await service.ask(
            '/v1/account?__proto__=1&constructor=2',
            await tokenOf(account),
          )
          expect(((await odd.json()) as { code: string }).code).toBe('unknown-parameter')
        } finally {
          await service.close()
        }
      },
    ),
    {
      numRuns: 6,
      seed: 11,
      examples: [
        [
          {
            account: '__proto__',
            model: 'constructor',
            endpoint: 'toString',
            keyFp: 'valueOf',
            errorCode: '__proto__',
            unit: 'credits',
          },
        ],
      ],
    },
  )
})

test('every command of usage tells of names that every object has', {
  tags: 'whole',
  timeout: 300_000,
}, () => {
  const log = join(folder, 'log.jsonl')
  const few = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '{credits}']
  const lines = few.flatMap((name, at) =>
    Array.from({ length: 4 }, (_, day) =>
      JSON.stringify({
        ...{
          id: `${at}/${day}`,
          time: `2026-11-0${day + 1}T10:00:00Z`,
          model: name,
          account: name,
        },
        ...{ endpoint: name, key: name, error: name, credits: 1, unit: 'credits', outcome: 'ok' },
        ...{ input: 5, output: 7, status: 200 },
      }),
    ),
  )
  writeFileSync(log, `${lines.join('\n')}\n`)
  writeFileSync(
    join(folder, 'map.yaml'),
    'fields: { id: id, time: time, model: model, account: account, endpoint: endpoint, keyFp: key, errorCode: error, credits: credits, outcome: outcome, promptTokens: input, completionTokens: output, status: status }\n',
  )
  writeFileSync(
    join(folder, 'settings.yaml'),
    settingsText.replace(/^keyNames.*$/m, 'accounts: { constructor: { budget: "1" } }'),
  )
  const assay = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    expect([words.join(' '), status, stderr]).toEqual([
      words.join(' '),
      0,
      expect.not.stringMatching(wrong),
    ])
    expect(stdout).not.toMatch(wrong)
    return stdout
  }
  const db = ['--db', 'usage.duckdb']
  expect(assay('import', 'log.jsonl', '--map', 'map.yaml', ...db)).toContain(
    `${lines.length} accepted`,
  )
  for (const by of ['model', 'key', 'endpoint', 'account']) {
    const said = assay('usage', '--by', by, ...db)
    for (const name of few) expect(said).toContain(name)
  }
  const json = JSON.parse(assay('usage', '--by', 'account', '--json', ...db)) as {
    series?: unknown
  }
  expect(JSON.stringify(json)).toContain('"__proto__"')
  assay('report', 'usage', ...db, '--out', 'usage.html')
  for (const account of ['__proto__', 'constructor', 'toString']) {
    assay('usage', '--account', account, ...db)
    assay('report', 'usage', ...db, '--account', account, '--out', 'one.html')
    assay(
      'report',
      'usage',
      '--for',
      'customer',
      '--account',
      account,
      '--settings',
      'settings.yaml',
      ...db,
      '--out',
      'customer.html',
    )
  }
  for (const what of ['usage', 'sums', 'quarters'])
    assay('export', what, ...db, '--out', `${what}.csv`)
})
