import type { Journal } from './journal.ts'
import { signedHeaders, type Webhook } from './webhook.ts'

/** Posts a body. @returns the status @throws whatever kept it from an answer */
export type Post = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<number>

/** A receiver that takes longer has not answered; the standard proposes 15 to 30 seconds. */
const longestMs = 15_000
const mostAtOnce = 4

/** Follows no redirect, since a signed message is for one address; reads no body. */
export const postByFetch: Post = async (url, headers, body) => {
  const signal = AbortSignal.timeout(longestMs)
  const { status, body: rest } = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'manual',
  })
  await rest?.cancel()
  return status
}

/** A word for what failed, without an address. */
function wordOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } }
  return name === 'TimeoutError' ? 'timeout' : (cause?.code ?? 'no-answer')
}

/** Sends what is due: each alert at least once to each webhook, and not again after an answer of 2xx. */
export class Deliveries {
  private readonly underWay = new Map<string, Promise<void>>()
  private readonly post: Post
  /** Unix milliseconds. */
  private readonly now: () => number
  private readonly log: (line: string) => void

  constructor(post: Post, now: () => number, log: (line: string) => void) {
    this.post = post
    this.now = now
    this.log = log
  }

  /** Begins the attempts that are due. */
  begin(journal: Journal, webhooks: readonly Webhook[]): void {
    for (const webhook of webhooks) {
      for (const { alert, atMs, deliveries } of journal.alerts.values()) {
        const ofWebhook = [...this.underWay.keys()].filter((key) => key.startsWith(webhook.id))
        if (ofWebhook.length >= mostAtOnce) break
        const delivery = deliveries.get(webhook.id)
        const key = `${webhook.id} ${alert.id}`
        const isDue = delivery?.state === 'pending' && delivery.dueMs <= this.now()
        if (!isDue || this.underWay.has(key)) continue
        const { type, data } = alert
        const body = JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data })
        const attempt = this.send(webhook, alert.id, body)
          .then((status) => {
            journal.attempted(alert.id, webhook.id, status, this.now())
            const { state, attempts } = deliveries.get(webhook.id)!
            this.log(
              `alert ${alert.id} to webhook ${webhook.id}: ${status}, attempt ${attempts}, ${state}`,
            )
          })
          .catch((error: unknown) => this.log(`alerts.file: ${(error as Error).message}`))
          .finally(() => this.underWay.delete(key))
        this.underWay.set(key, attempt)
      }
    }
  }

  /** Waits for the attempts that are under way. */
  async end(): Promise<void> {
    await Promise.all(this.underWay.values())
  }

  private async send(webhook: Webhook, id: string, body: string): Promise<number | string> {
    try {
      return await this.post(webhook.url, signedHeaders(webhook, id, body, this.now()), body)
    } catch (error) {
      return wordOf(error)
    }
  }
}
