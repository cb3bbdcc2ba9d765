import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomOf } from '../simulated-servers.ts'

const dayMs = 86_400_000
const models = [
  { name: 'text-large', share: 0.3, credits: 4, tokens: 1200 },
  { name: 'text-small', share: 0.5, credits: 2, tokens: 1150 },
  { name: 'embed-1', share: 0.2, credits: 3, tokens: 1100 },
]
const keys = ['3f2a91c04d7e', '9b00c4d2e1f7']

/** Requests of a customer: many on working days, one busy hour, few failures. */
function* requestsOf(account: string, nowMs: number, days: number, perHour: number) {
  const random = randomOf(`picture ${account}`)
  for (let hour = days * 24; hour > 0; hour--) {
    const atMs = nowMs - hour * (dayMs / 24)
    const time = new Date(atMs)
    const isWork = time.getUTCDay() % 6 !== 0 && time.getUTCHours() >= 7 && time.getUTCHours() < 18
    const isBusy = Math.round(hour / 24) === 11 && time.getUTCHours() === 16
    const count = Math.floor((isBusy ? 14 : isWork ? 1 : 0.15) * perHour * (0.6 + random()))
    for (let nth = 0; nth < count; nth++) {
      const [at, failing, kind] = [random(), random(), random()]
      const model = models.find((_, i) => kind < sumTo(i))!
      const status = failing < 0.012 ? 500 : failing < 0.03 ? 429 : 200
      const prompt = Math.floor(model.tokens * (0.3 + random() * 1.4))
      yield {
        ...{ id: `${account}-${hour}-${nth}`, account, status, model: model.name },
        time: new Date(atMs + at * (dayMs / 24)).toISOString(),
        key: keys[random() < 0.7 ? 0 : 1],
        credits: status === 200 ? model.credits : 0,
        prompt,
        cached: Math.floor(prompt * 0.12),
        completion: status === 200 ? Math.floor(150 + random() * 300) : 0,
      }
    }
  }
}

const sumTo = (at: number) => models.slice(0, at + 1).reduce((sum, { share }) => sum + share, 0)

/** Writes a log of the last 31 days with its map, grants and the settings of a page for customers. */
export function writeMadeUpUsage(folder: string, nowMs: number): void {
  const day = (days: number) => new Date(nowMs + days * dayMs).toISOString().slice(0, 10)
  const rows = ['acct-204', 'acct-118'].flatMap((account, at) => [
    ...requestsOf(account, nowMs, 31, at === 0 ? 8 : 5),
  ])
  const fields = Object.keys(rows[0]!) as (keyof (typeof rows)[number])[]
  const lines = rows.map((row) => fields.map((field) => row[field]).join(','))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('gateway.csv', [fields.join(','), ...lines, ''].join('\n'))
  write(
    'map.yaml',
    `source: gateway
fields:
  id: id
  time: time
  model: model
  account: account
  keyFp: key
  status: status
  credits: credits
  promptTokens: prompt
  cachedTokens: cached
  completionTokens: completion
`,
  )
  write(
    'grants.yaml',
    `- { name: Pack, credits: 9000, expires: '${day(22)}' }\n- { name: Reserve, credits: 13000 }\n`,
  )
  write(
    'page.yaml',
    `product: Example Text API
locale: en
currency: EUR
accent: '#7b1fa2'
credits: { price: '0.0125' }
timezone: UTC
support: https://example.com/help
shows: [credits, cost, keys, models, requests, export]
origins: []
tokens: { algorithm: HS256, secretEnv: USAGE_SECRET }
keyNames: { 3f2a91c04d7e: production, 9b00c4d2e1f7: staging }
accounts:
  acct-204:
    label: Nordlicht Studio
    budget: '9000'
    grants: [{ name: Pack, credits: 20000, from: '${day(-31)}' }]
`,
  )
}
