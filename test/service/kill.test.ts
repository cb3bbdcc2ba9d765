import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'

/**
 * At night fifty lives, of up to a second and a half each; otherwise as many as fit a few seconds.
 */
const isNight = process.env.NIGHTLY !== undefined
const kills = isNight ? 50 : 8
const clients = 64

/** The clients' knowledge of one life of the service. */
interface Known {
  /** Requests with a complete response: their charge must be kept. */
  readonly acknowledged: Map<string, number>
  /** Requests that were sent, and their cost if each is charged. */
  sent: number
  askedCredits: number
}

test(`killed ${kills} times under load, the service loses no charge and charges nothing twice`, {
  tags: 'whole',
  timeout: 30_000 + kills * (isNight ? 20_000 : 5_000),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ledger.db')
  const acknowledged = new Map<string, number>()
  let sent = 0
  let askedCredits = 0
  for (let life = 0; life < kills; life++) {
    const child = fork(join(import.meta.dirname, 'kill.worker.ts'), [path], {
      // Compiled once for all lives; the rest of a start is the service's own work.
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    })
    const [ready] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error('the service did not start')
      }),
    ])) as [{ baseUrl: string; apiKey: string }]
    // Every fourth life ends at any time; the others only once a charge can be lost.
    const answersFirst = life % 4 === 0 ? 0 : 2
    const afterMs = isNight ? Math.random() * 1500 : 4 + ((life * 37) % 60)
    const known = await loadUntilKilled(child, ready, answersFirst, afterMs)
    for (const [id, cost] of known.acknowledged) {
      expect(acknowledged.has(id)).toBe(false)
      acknowledged.set(id, cost)
    }
    sent += known.sent
    askedCredits += known.askedCredits
    const spent = check(path, acknowledged, sent)
    const acknowledgedCredits = [...acknowledged.values()].reduce((sum, cost) => sum + cost, 0)
    expect(spent).toBeGreaterThanOrEqual(acknowledgedCredits)
    // Unacknowledged requests are ambiguous: charged, or not.
    expect(spent).toBeLessThanOrEqual(askedCredits)
    const ambiguous = askedCredits - acknowledgedCredits
    if (isNight && life === kills - 1) console.info({ acknowledgedCredits, spent, ambiguous })
  }
  expect(acknowledged.size).toBeGreaterThan(kills)
})

const costOf = (model: string) => (model === 'svc-k2.5' ? 2 : 1)

/** Sends as fast as answers come, and kills this long after this many of them. */
async function loadUntilKilled(
  child: ChildProcess,
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string },
  answersFirst: number,
  afterMs: number,
): Promise<Known> {
  const known: Known = { acknowledged: new Map(), sent: 0, askedCredits: 0 }
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let dead = false
  const one = (stream: boolean, model: string) =>
    new Promise<void>((resolve) => {
      known.sent++
      known.askedCredits += costOf(model)
      const outgoing = request(
        `${baseUrl}/v1/chat/completions`,
        {
          method: 'POST',
          agent,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        },
        (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('error', () => resolve())
          response.on('close', () => resolve())
          response.on('end', () => {
            const whole = stream ? text.includes('[DONE]') : text.endsWith('}')
            if (response.statusCode !== 200 || !whole) return
            const id = String(response.headers['x-request-id'])
            known.acknowledged.set(id, costOf(model))
          })
        },
      )
      outgoing.on('error', ({ code }: NodeJS.ErrnoException) => {
        // A dead service received nothing.
        if (code === 'ECONNREFUSED') {
          known.sent--
          known.askedCredits -= costOf(model)
        }
        resolve()
      })
      outgoing.end(JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] }))
    })
  const client = async (number: number) => {
    for (let turn = 0; !dead; turn++) {
      await one((number + turn) % 3 === 0, turn % 4 === 0 ? 'svc-k2.5' : 'svc-k2')
    }
  }
  const all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  while (known.acknowledged.size < answersFirst) await sleep(1)
  await sleep(afterMs)
  child.kill('SIGKILL')
  await once(child, 'exit')
  dead = true
  await all
  agent.destroy()
  return known
}

/** The contents of the file, read only by SQLite itself. @returns the credits that were charged */
function check(path: string, acknowledged: ReadonlyMap<string, number>, sent: number): number {
  const file = new DatabaseSync(path)
  try {
    const charges = file
      .prepare("SELECT request_id, credits FROM entries WHERE kind = 'charge'")
      .all()
    const charged = new Map(charges.map((row) => [String(row.request_id), -Number(row.credits)]))
    // Nothing twice, nothing that was not requested, and no acknowledged charge lost.
    expect(charged.size).toBe(charges.length)
    expect(charges.length).toBeLessThanOrEqual(sent)
    for (const [id, cost] of acknowledged) expect(charged.get(id)).toBe(cost)
    const { balance, entries } = file
      .prepare(
        `SELECT a.balance, (SELECT sum(credits) FROM entries WHERE account_id = a.id) AS entries
         FROM accounts a WHERE a.name = 'a'`,
      )
      .get()!
    expect(balance).toBe(entries)
    return [...charged.values()].reduce((sum, cost) => sum + cost, 0)
  } finally {
    file.close()
  }
}
