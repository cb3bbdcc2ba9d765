import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { auditLog } from '../../../src/audit/log-alone/audit-log.ts'
import { logTokens } from '../../../src/contract/prices.ts'
import type { Conduct } from '../../../src/service/money/conducts.ts'
import { conducts } from '../../../src/service/money/conducts.ts'
import { moneyFaults } from '../../../src/service/money/faults/list.ts'
import type { ServiceOptions } from '../../../src/service/options.ts'
import { expectFact } from '../../report/headline.ts'
import { contractWith, type Gateway, gateway, long, user } from '../../service/money/gateway.ts'
import { RecordedClient } from '../prices/field/recorded-client.ts'
import { type Traffic, traffic } from '../prices/field/traffic.ts'

/**
 * Which public faults the log of a service tells by itself: no answer, no balance, no store. Each fault shows in the log alone.
 * `ASSAY_TABLE=FILE` writes the table of docs/auditing.md.
 */
const isNight = process.env.NIGHTLY !== undefined
const inLog = moneyFaults.filter(({ name }) => traffic[name] !== undefined)
const page = readFileSync(new URL('../../../docs/auditing.md', import.meta.url), 'utf8')

/** The rules that the document names for a fault: `PRICE-04`, or none for a dash. */
function documented(name: string): readonly string[] {
  const [, rules] = new RegExp(`^\\| [^|]*\`${name}\` \\| ([^|]*) \\|`, 'm').exec(page) ?? []
  if (rules === undefined) throw new Error(`docs/auditing.md has no row of ${name}`)
  return rules === '–' ? [] : rules.split(', ')
}

/** A log with its counts, as logs of gateways have. */
const evidence = {
  log: {
    ...{ get: '/spend/logs', id: 'request_id', cost: 'spend' },
    tokens: Object.fromEntries(logTokens.map((name) => [name, `tokens.${name}`])),
  },
}

/** A log counts no searches and no images: a price of theirs leaves each cost open. So it is there only where the fault is about it. */
const ofText = {
  ...{ input: 4, cache_read: 0.4, cache_write: 5, cache_write_1h: 8, output: 20, reasoning: 30 },
  request: 0.001,
}
const isOfText = (name: string) => !/image|search|component/.test(name)

const slow = {
  timeToFirstUs: { kind: 'constant', value: 300_000 },
  betweenTokensUs: { kind: 'constant', value: 20_000 },
} as const
const verySlow = { timeToFirstUs: { kind: 'constant', value: 2_200_000 } } as const

/** Sends the traffic, and judges nothing but the rows of the service's log. */
async function judged(
  { send, choices, model, isSlow = false }: Traffic,
  options: ServiceOptions,
  { isText = true, isVerySlow = false } = {},
) {
  const contract = contractWith({ evidence }, { ...(isText ? { price: ofText } : {}), ...model })
  const target: Gateway = await gateway({
    ...{ contract, ...options },
    ...(isSlow ? { shape: isVerySlow ? verySlow : slow } : {}),
  })
  await send(new RecordedClient(target.baseUrl, target.key))
  const folder = mkdtempSync(join(tmpdir(), 'assay-log-fault-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'log.jsonl')
  const rows = await target.rows()
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { findings } = await auditLog({
    ...{ file, contract, nowMs: Date.now() },
    ...(choices === undefined ? {} : { choices }),
  })
  return findings.flatMap(({ rule, verdict, ...finding }) =>
    verdict.verdict === 'fail' ? [{ ...finding, rule, verdict }] : [],
  )
}

test('each public fault of money is in the table, but for those of a balance that refuses or does not', () => {
  const others = moneyFaults.filter((fault) => !inLog.includes(fault)).map(({ name }) => name)
  expect(others).toEqual(['overdraft', 'counter-doubled', 'budget-ignored'])
  for (const name of others) expect(page).toContain(`\`${name}\``)
  const rules = inLog.map(({ name }) => documented(name))
  const told = rules.filter((each) => each.length > 0).length
  expect(page).toContain(`${told} of ${inLog.length} are detected`)
})

describe('a log alone tells the faults that the document says, and no others', () => {
  const shown = inLog.filter((_, at) => isNight || at % 12 === 5)
  test.each(shown)('$ids $name', { tags: 'whole' }, async ({ ids, name }) => {
    const failed = await judged(
      traffic[name]!,
      { faults: [`${name}@logged=${traffic[name]!.share ?? 1}`] },
      { isText: isOfText(name), isVerySlow: name === 'per-call-is-per-second' },
    )
    const rules = failed.map(({ rule }) => rule)
    const table = process.env.ASSAY_TABLE
    if (table !== undefined) {
      const words =
        failed[0]?.verdict.observed.replace(
          /^\S+ \S+; \d+ of \d+ costs are wrong: |\. \S+ USD too \w+ in these requests$/g,
          '',
        ) ?? ''
      const cells = [`${ids.join(' ')} \`${name}\``, rules.join(', ') || '–', words]
      appendFileSync(table, `| ${cells.join(' | ')} |\n`)
      return
    }
    expect(rules).toEqual(documented(name))
    for (const finding of failed) {
      expectFact(finding)
      const [first] = finding.verdict.witnesses
      // The service finds the request by its own id.
      expect(first.service?.ids).toHaveLength(1)
    }
  })
})

const hello = { messages: user('Hello') }
const again = { messages: long(2000, 'a') }
const mixed: Traffic = {
  is: 'plain, streamed and repeated requests',
  send: async (client) => {
    for (const body of [hello, { ...hello, stream: true }, again, again, again, hello])
      await client.ask(body)
  },
}

/** Faults of what is sold that change what is paid: the log states the tokens that it charges. */
const ofSale = [
  'token-inflation:1.5',
  'token-rounding',
  'hidden-prompt',
  'cached-not-told',
  'cached-too-many',
  'output-inflation:2',
  'reasoning-inflation:2',
  'stream-inflation:1.5',
]
const thinking: Traffic = {
  ...mixed,
  send: async (client) => {
    await mixed.send(client)
    await client.ask({ ...hello, reasoning_effort: 'high' })
  },
}

describe('a log that charges the tokens that it states passes, whatever the answers had', () => {
  test.each(ofSale.filter((_, at) => isNight || at % 3 === 0))(
    '%s',
    { tags: 'whole' },
    async (fault) => {
      const name = fault.split(':')[0]!
      expect((await judged(thinking, { faults: [fault] })).map(({ rule }) => rule)).toEqual(
        documented(name),
      )
      expect(documented(name)).toEqual([])
    },
  )
})

describe('the log of an honest service raises no alarm by itself', () => {
  test('each conduct is in the document', () => {
    for (const name of Object.keys(conducts)) expect(page).toContain(`\`${name}\``)
  })

  const kinds = Object.entries(traffic).filter((_, at) => isNight || at % 10 === 6)
  test.each(kinds)('with the traffic that shows %s', { tags: 'whole' }, async (name, each) => {
    expect(await judged(each, {}, { isText: isOfText(name) })).toEqual([])
  })

  const names = (Object.keys(conducts) as Conduct[]).filter(
    (name, at) => isNight || at % 5 === 0 || /cache|settled/.test(name),
  )
  test.each(names)('with the conduct %s', { tags: 'whole' }, async (name) => {
    expect(await judged(mixed, { conducts: [name] })).toEqual([])
  })
})
