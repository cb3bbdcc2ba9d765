import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Deliveries, type Post, postByFetch } from '../../src/portal/alerts/deliveries.ts'
import { type Alert, Journal } from '../../src/portal/alerts/journal.ts'
import { openWebhooks } from '../../src/portal/alerts/webhook.ts'
import { openStore } from '../../src/store/session/open.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { env, nowMs, type Served, served, settingsOf, tokenOf, webhookSecret } from './portal.ts'

afterAll(() => rmSync(folder, { recursive: true }))
const folder = mkdtempSync(join(tmpdir(), 'assay-alerts-'))
let made = 0
const newFile = () => join(folder, `alerts-${made++}.jsonl`)
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const url = 'https://app.example.com/hooks/usage?token=in-the-address'
/** The file began a week ago. */
const begunFile = () => {
  const file = newFile()
  appendFileSync(file, `${JSON.stringify({ at: nowMs - 7 * 86_400_000, began: true })}\n`)
  return file
}
const alertsText = (file: string) =>
  `alerts: { file: ${file}, webhooks: [{ url: '${url}', secretEnv: USAGE_WEBHOOK_SECRET }] }\n`

interface Message {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A receiver that checks each message by the library of the standard. */
function receiverOf(answer: (message: Message, attempt: number) => number | Promise<number>) {
  const messages: Message[] = []
  const post: Post = async (to, headers, body) => {
    expect(to).toBe(url)
    // The library refuses times that are not its own.
    const own = new Webhook(webhookSecret)
    const at = new Date(Number(headers['webhook-timestamp']) * 1000)
    expect(headers['webhook-signature']).toBe(own.sign(headers['webhook-id']!, at, body))
    const { type, data } = JSON.parse(body) as Message
    const message = { id: headers['webhook-id']!, type, data }
    messages.push(message)
    return answer(message, messages.filter(({ id }) => id === message.id).length)
  }
  return { messages, post }
}

const dayUs = 86_400e6
/** Ten credits on each day from the 1st to the 27th of November. */
const steady = (account: string, change: EventChange = {}) =>
  Array.from({ length: 27 }, (_, day) => ({
    ...{ atUs: utc(2026, 11, 1, 9) + day * dayUs, account, credits: 10, ...change },
  }))

async function alerting(
  settings: string,
  events: readonly (EventChange & { atUs: number })[],
  post: Post,
  log: (line: string) => void = () => {},
): Promise<Served> {
  service = await served([], settingsOf(settings), (store) => enterEvents(store, events), 60_000, {
    ...{ post, log },
  })
  return service
}

async function enter(events: readonly (EventChange & { atUs: number })[]): Promise<void> {
  const store = await openStore(service!.file)
  await enterEvents(store, events)
  store.close()
  await service!.portal.refresh()
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
/** Lets attempts end that are due: four are under way at once. */
async function settled(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await pause()
    service!.portal.deliver()
  }
  await pause()
}

test('a budget is told at each threshold once in a period, whatever comes later', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { messages, post } = receiverOf(() => 204)
  const file = newFile()
  const budget = 'accounts: { a: { budget: { amount: "1000", thresholds: [0.25, 0.5] } } }\n'
  const { portal } = await alerting(alertsText(file) + budget, steady('a'), post)
  await portal.alert()
  await settled()
  const reached = () => messages.filter(({ type }) => type === 'budget.reached')
  expect(reached().map(({ data }) => data)).toEqual([
    {
      ...{ account: 'a', label: 'a', threshold: 0.25, amount: '1000', unit: 'credits' },
      ...{ key: null, tag: null },
      ...{ period: 'month', used: '270', left: '730', share: 0.27, crosses: null },
      ...{ from: '2026-11-01T00:00:00+00:00', to: '2026-12-01T00:00:00+00:00' },
    },
  ])
  await enter([{ atUs: utc(2026, 11, 28, 3), account: 'a', credits: 300 }])
  for (let look = 0; look < 3; look++) {
    service!.pass(15 * 60_000)
    await portal.alert()
    portal.deliver()
    await settled()
  }
  expect(reached().map(({ data }) => data.threshold)).toEqual([0.25, 0.5])
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
  // A refund takes the use below the threshold, and more use takes it over it again.
  await enter([
    { atUs: utc(2026, 11, 28, 4), account: 'a', credits: -200, type: 'refund', requests: 0 },
  ])
  await portal.alert()
  await enter([{ atUs: utc(2026, 11, 28, 5), account: 'a', credits: 201 }])
  await portal.alert()
  await settled()
  expect(reached()).toHaveLength(2)
})

test('use that comes after the end of a period still reaches its threshold, under the next period', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { messages, post } = receiverOf(() => 204)
  const budget = 'accounts: { a: { budget: { amount: "1000", thresholds: [0.5] } } }\n'
  const { portal } = await alerting(alertsText(newFile()) + budget, steady('a'), post)
  await portal.alert()
  service!.pass(4 * 86_400_000)
  await enter([{ atUs: utc(2026, 11, 30, 22), account: 'a', credits: 300 }])
  await portal.alert()
  await settled()
  const [reached] = messages.filter(({ type }) => type === 'budget.reached')
  expect(reached!.data).toMatchObject({ used: '570', from: '2026-11-01T00:00:00+00:00' })
})

test('a balance is told below its thresholds and before it runs out, and again after a grant', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { messages, post } = receiverOf(() => 204)
  const grants = (more = '') =>
    `accounts: { a: { alertBelow: ['100', 20], grants: [{ name: Pack, credits: 340, from: 2026-11-01 }${more}] } }\n`
  const file = newFile()
  const { portal } = await alerting(alertsText(file) + grants(), steady('a'), post)
  await portal.alert()
  await settled()
  const data = (type: string) =>
    messages.filter((each) => each.type === type).map((each) => each.data)
  expect(data('credits.below')).toEqual([
    {
      ...{ account: 'a', label: 'a', threshold: '100' },
      ...{ unit: 'credits', remaining: '70', source: 'grants' },
    },
  ])
  // Seventy credits last seven days at ten a day.
  expect(data('credits.running-out')).toMatchObject([{ days: 14, remaining: '70' }])
  const { median } = data('credits.running-out')[0]!.runsOut as { median: string }
  expect(['2026-12-04', '2026-12-05', '2026-12-06']).toContain(median)
  await service!.close()
  const second = receiverOf(() => 204)
  const next = await alerting(
    alertsText(file) + grants(', { name: Gift, credits: 10, from: 2026-11-28 }'),
    steady('a'),
    second.post,
  )
  await next.portal.alert()
  await settled()
  expect(second.messages.map(({ type, data: given }) => [type, given.remaining])).toEqual([
    ['credits.below', '80'],
    ['credits.running-out', '80'],
  ])
})

test('a balance that was filled up on its day may fall again, and another zone of the account tells nothing anew', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const file = newFile()
  const told = async (asOf: string, zone: string) => {
    const { messages, post } = receiverOf(() => 204)
    const accounts = `accounts: { a: { alertBelow: [100], timezone: ${zone}, balance: { credits: 60, asOf: ${asOf} } } }\n`
    const { portal } = await alerting(alertsText(file) + accounts, steady('a'), post)
    await portal.alert()
    await settled()
    await service!.close()
    service = undefined
    return messages.filter(({ type }) => type === 'credits.below').length
  }
  expect(await told('2026-11-28T06:00Z', 'UTC')).toBe(1)
  expect(await told('2026-11-28T06:00Z', 'Asia/Tokyo')).toBe(0)
  expect(await told('2026-11-28T10:00Z', 'Asia/Tokyo')).toBe(1)
  expect(await told('2026-11-28', 'UTC')).toBe(1)
  expect(await told('2026-11-28', 'Asia/Tokyo')).toBe(0)
})

test('an alert has no more than the page: neither money nor names that the settings do not show', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { messages, post } = receiverOf(() => 204)
  const dear = { atUs: utc(2026, 11, 27, 16), account: 'a', credits: 40_000 }
  const hourly = Array.from({ length: 8 * 24 }, (_, hour) => ({
    ...{ atUs: utc(2026, 11, 20) + hour * 3600e6, account: 'a', credits: 2 },
  }))
  const events = [...hourly, { ...dear, model: 'nova-mini' }]
  const accounts =
    'accounts: { a: { grants: [{ name: P, credits: 9 }], alertBelow: [50], budget: [{ amount: "100" }, { amount: "1", unit: EUR }] } }\n'
  const shows = (some: string) => `shows: [${some}]\n${alertsText(begunFile())}${accounts}`
  const typesOf = () => messages.map(({ type, data }) => `${type} ${data.unit ?? ''}`.trim())
  await (await alerting(shows('credits, models'), events, post)).portal.alert()
  await settled()
  expect(new Set(typesOf())).toEqual(
    new Set([
      ...['budget.reached credits', 'credits.below credits'],
      ...['credits.running-out credits', 'usage.unusual-hour credits'],
    ]),
  )
  const { data } = messages.find(({ type }) => type === 'usage.unusual-hour')!
  expect(data).toMatchObject({ amount: '40002', names: ['nova-mini'] })
  messages.length = 0
  await service!.close()
  await (await alerting(shows('cost'), events, post)).portal.alert()
  await settled()
  expect(JSON.stringify(messages)).not.toMatch(/nova|credits/)
  expect(typesOf()).toContain('budget.reached EUR')
})

test('an account that no settings name is watched, with what the settings say of every account', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { messages, post } = receiverOf(() => 204)
  const hourly = (account: string) =>
    Array.from({ length: 8 * 24 }, (_, hour) => ({
      ...{ atUs: utc(2026, 11, 20) + hour * 3600e6, account, credits: 2 },
    }))
  const dear = { atUs: utc(2026, 11, 27, 16), account: 'stranger', credits: 40_000 }
  const every =
    'everyAccount: { budget: "300", alertBelow: [] }\naccounts: { b: { budget: "5000" }, c: { label: C } }\n'
  const events = [...hourly('stranger'), dear, ...hourly('b'), ...hourly('c')]
  await (await alerting(alertsText(begunFile()) + every, events, post)).portal.alert()
  await settled()
  const told = messages.map(({ type, data }) => `${data.account} ${type}`)
  // b has 384 of 5,000; c has a name and the budget of every account, as the stranger has. Both are beyond 0.8, too, which is not told.
  expect([...new Set(told)].sort()).toEqual([
    'c budget.reached',
    'stranger budget.reached',
    'stranger usage.unusual-hour',
  ])
  expect(told.filter((each) => each === 'c budget.reached')).toHaveLength(1)
  const { ask } = service!
  const answer = await ask('/v1/budgets', await tokenOf('stranger'))
  expect(await answer.json()).toMatchObject({ budgets: [{ amount: '300', used: '40384' }] })
})

test('of two servers on one file one sends, and the other takes over when it ends', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const file = begunFile()
  const text = `${alertsText(file)}accounts: { a: { budget: ["100", "90"] } }\n`
  const [first, second] = [receiverOf(() => 500), receiverOf(() => 204)]
  const one = await alerting(text, steady('a'), first.post)
  service = undefined
  const lines: string[] = []
  const other = await alerting(text, steady('a'), second.post, (line) => lines.push(line))
  await one.portal.alert()
  for (let look = 0; look < 3; look++) {
    await other.portal.alert()
    other.portal.deliver()
  }
  await settled()
  expect(first.messages).toHaveLength(2)
  expect(second.messages).toEqual([])
  expect(lines).toEqual([
    'alerts.file: another server has it and sends the alerts. This one takes over when that one ends.',
  ])
  // The one that waits shows what the other did.
  const { alerts } = (await (await other.ask('/v1/alerts', await tokenOf('a'))).json()) as {
    alerts: { deliveries: { status: number }[] }[]
  }
  expect(alerts.map(({ deliveries }) => deliveries[0]!.status)).toEqual([500, 500])
  await one.close()
  other.pass(60_000)
  await other.portal.alert()
  other.portal.deliver()
  await settled()
  expect(second.messages.map(({ id }) => id).sort()).toEqual(
    first.messages.map(({ id }) => id).sort(),
  )
  const ids = readFileSync(file, 'utf8').match(/"alert":/g)
  expect(ids).toHaveLength(2)
})

test('a token sees the alerts of its account, of what it shows, and of all its keys', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { post } = receiverOf(() => 500)
  const accounts =
    'accounts: { a: { budget: [{ amount: "100" }, { amount: "1", unit: EUR }] }, b: { budget: "7" } }\n'
  const events = [...steady('a'), ...steady('b')]
  const { portal, ask } = await alerting(alertsText(begunFile()) + accounts, events, post)
  await portal.alert()
  await settled()
  const seen = async (account: string, claims = {}) => {
    const answer = await ask('/v1/alerts', await tokenOf(account, claims))
    expect(answer.status).toBe(200)
    const { alerts } = (await answer.json()) as {
      alerts: { data: { account: string; unit: string }; deliveries: object[] }[]
    }
    return alerts
  }
  const a = await seen('a')
  expect(a.map(({ data }) => `${data.account} ${data.unit}`).sort()).toEqual(['a EUR', 'a credits'])
  expect(a[0]!.deliveries).toEqual([
    {
      state: 'pending',
      attempts: 1,
      status: 500,
      next: expect.stringMatching(/^2026-11-28T12:00:05/),
    },
  ])
  expect((await seen('b')).map(({ data }) => data.account)).toEqual(['b'])
  expect((await seen('a', { shows: ['credits'] })).map(({ data }) => data.unit)).toEqual([
    'credits',
  ])
  expect(await seen('a', { shows: [] })).toEqual([])
  expect(await seen('a', { keys: ['k1'] })).toEqual([])
  expect(await seen('c')).toEqual([])
  // The answer changes with a delivery.
  const [one, other] = [await tokenOf('a'), await tokenOf('a')]
  const before = (await ask('/v1/alerts', one)).headers.get('etag')
  service!.pass(8000)
  portal.deliver()
  await settled()
  expect((await ask('/v1/alerts', other)).headers.get('etag')).not.toBe(before)
})

test('no log and no file has an address, a secret or a signature', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const lines: string[] = []
  const { post, messages } = receiverOf((_, attempt) => {
    if (attempt === 1)
      throw Object.assign(new Error(`connect ${url}`), { cause: { code: 'ECONNREFUSED' } })
    return 200
  })
  const file = begunFile()
  const budget = 'accounts: { a: { budget: ["100", "90"] } }\n'
  const { portal } = await alerting(alertsText(file) + budget, steady('a'), post, (line) =>
    lines.push(line),
  )
  await portal.alert()
  await settled()
  service!.pass(8000)
  portal.deliver()
  await settled()
  expect(messages).toHaveLength(4)
  expect(lines.filter((each) => each.endsWith('ECONNREFUSED, attempt 1, pending'))).toHaveLength(2)
  expect(lines.filter((each) => each.endsWith('200, attempt 2, delivered'))).toHaveLength(2)
  const all = lines.join('\n') + readFileSync(file, 'utf8')
  expect(all).not.toMatch(/app\.example\.com|in-the-address|whsec|v1,/)
  expect(all).not.toContain(webhookSecret.slice('whsec_'.length, -4))
})

test('a secret that is missing or short is refused before anything is served, and not shown', () => {
  const settings = settingsOf(alertsText('alerts.jsonl'))
  for (const wrong of [
    undefined,
    '',
    'whsec_c2hvcnQ=',
    'plain text of many letters and more of it',
  ]) {
    const open = () => openWebhooks(settings, { USAGE_WEBHOOK_SECRET: wrong })
    expect(open).toThrow(/USAGE_WEBHOOK_SECRET: expected whsec_/)
    if (wrong) expect(open).not.toThrow(new RegExp(wrong))
  }
  for (const wrong of [
    'http://example.com/hook',
    'https://me:pw@example.com/',
    'ftp://example.com',
  ]) {
    const text = alertsText('f').replace(url, wrong)
    expect(() => settingsOf(text)).toThrow(/alerts\.webhooks\.0\.url/)
  }
})

test('a receiver may be given a new secret while it still has the old one', async () => {
  const older = `whsec_${Buffer.from('another secret with 32 bytes, or so').toString('base64')}`
  const [webhook] = openWebhooks(settingsOf(alertsText('f')), {
    USAGE_WEBHOOK_SECRET: `${webhookSecret} ${older}`,
  })
  const journal = new Journal(newFile(), 0)
  journal.add({ ...alertOf('msg_1') }, [webhook!.id], Date.now())
  const bodies: [Readonly<Record<string, string>>, string][] = []
  const deliveries = new Deliveries(
    async (_, headers, body) => {
      bodies.push([headers, body])
      return 200
    },
    Date.now,
    () => {},
  )
  deliveries.begin(journal, [webhook!])
  await deliveries.end()
  const [[headers, body]] = bodies as [[Record<string, string>, string]]
  for (const known of [webhookSecret, older]) {
    expect(new Webhook(known).verify(body, headers)).toMatchObject({ type: 'credits.below' })
    expect(() => new Webhook(known).verify(`${body} `, headers)).toThrow()
  }
  journal.close()
})

test('a receiver that answers late, in pieces and twice gets each message once', {
  tags: 'whole',
}, async () => {
  const got: string[] = []
  const receiver = createServer((socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', async (bytes) => {
      text += bytes
      const [, length] = /content-length: (\d+)\r\n/i.exec(text) ?? []
      const end = text.indexOf('\r\n\r\n') + 4
      if (length === undefined || end < 4 || text.length - end < Number(length)) return
      got.push(/webhook-id: (\S+)/i.exec(text)![1]!)
      text = ''
      socket.write('HTTP/1.1 2')
      await new Promise((resolve) => setTimeout(resolve, 300))
      socket.write('04 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n')
    })
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const [webhook] = openWebhooks(settingsOf(alertsText('f')), env)
  const local = { ...webhook!, url: `http://127.0.0.1:${port}/` }
  const journal = new Journal(newFile(), 0)
  const ids = Array.from({ length: 6 }, (_, at) => `msg_${at}`)
  for (const id of ids) journal.add(alertOf(id), [local.id], 0)
  const deliveries = new Deliveries(postByFetch, Date.now, () => {})
  for (let round = 0; round < 3; round++) {
    deliveries.begin(journal, [local])
    await deliveries.end()
  }
  expect(got.toSorted()).toEqual(ids)
  const ends = [...journal.alerts.values()].map((each) => each.deliveries.get(local.id)!)
  expect(ends.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(
    ids.map(() => 'delivered 1'),
  )
  journal.close()
  receiver.close()
})

const alertOf = (id: string): Alert => ({
  ...{ id, account: 'a', type: 'credits.below', needs: ['credits'], data: {} },
})

/** How a receiver takes an attempt: it may have the message although nobody hears so. */
const manner = fc.constantFrom('ok', 'ok', 'refuses', 'drops', 'late', 'gone') as fc.Arbitrary<
  'ok' | 'refuses' | 'drops' | 'late' | 'gone'
>

test('each alert arrives at least once over failures, late answers, cut lines and kills', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const [webhook] = openWebhooks(settingsOf(alertsText('f')), env)
  let kills = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ manner, isKilled: fc.boolean(), isCut: fc.boolean() }), {
        ...{ minLength: 1, maxLength: 25 },
      }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, count) => {
        const file = newFile()
        const got = new Map<string, number>()
        const acknowledged = new Set<string>()
        let now = nowMs
        let at = 0
        const post: Post = async (_, headers) => {
          const id = headers['webhook-id']!
          const { manner: how } = steps[at++ % steps.length]!
          if (how === 'drops') throw new TypeError('fetch failed')
          if (how === 'refuses') return 503
          if (how === 'gone') return 404
          expect(acknowledged.has(id)).toBe(false)
          got.set(id, (got.get(id) ?? 0) + 1)
          if (how === 'late') throw Object.assign(new Error('late'), { name: 'TimeoutError' })
          acknowledged.add(id)
          return 204
        }
        let journal = new Journal(file, now)
        for (let id = 0; id < count; id++) journal.add(alertOf(`msg_${id}`), [webhook!.id], now)
        // The same threshold and period is not told anew.
        for (let id = 0; id < count; id++) {
          expect(journal.add(alertOf(`msg_${id}`), [webhook!.id], now)).toBe(false)
        }
        for (const { isKilled, isCut } of steps.slice(0, 9)) {
          const deliveries = new Deliveries(
            post,
            () => now,
            () => {},
          )
          deliveries.begin(journal, [webhook!])
          await deliveries.end()
          now += 26 * 3_600_000
          if (isKilled) {
            kills++
            journal.close()
            if (isCut) appendFileSync(file, '{"at":1,"attempted":"msg_0","webh')
            journal = new Journal(file, now)
          }
        }
        for (const { alert, deliveries } of journal.alerts.values()) {
          const { state, attempts } = deliveries.get(webhook!.id)!
          if (state === 'delivered') expect(got.get(alert.id)).toBeGreaterThanOrEqual(1)
          expect(state === 'delivered').toBe(acknowledged.has(alert.id))
          // Ten attempts, and it waits in the file to be sent anew.
          if (state === 'failed') expect(attempts).toBe(10)
          if (state !== 'pending') continue
          expect(attempts).toBeLessThan(10)
        }
        for (const { alert } of journal.alerts.values()) journal.replay(alert.id, now)
        acknowledged.clear()
        const well = new Deliveries(
          async (_, headers) => {
            got.set(headers['webhook-id']!, 1)
            return 200
          },
          () => now,
          () => {},
        )
        for (let round = 0; round < 2; round++) {
          well.begin(journal, [webhook!])
          await well.end()
        }
        expect(got.size).toBe(count)
        journal.close()
      },
    ),
    { numRuns: 100 },
  )
  expect(kills).toBeGreaterThan(50)
})
