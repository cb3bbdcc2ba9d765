// What receivers of alerts share: each message is checked, and told once, in one sentence.
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

/** What a budget is of, if not of the whole account. */
const partOf = ({ key, tag }) => ((key ?? tag) ? ` for ${key ?? tag}` : '')

const texts = {
  'budget.reached': (data) =>
    `${data.label} has used ${data.used} of its budget of ${data.amount} ${data.unit}${partOf(data)}.`,
  'budget.forecast': (data) =>
    `${data.label} will probably have used its budget of ${data.amount} ${data.unit}${partOf(data)} on ${data.crosses}.`,
  'credits.below': ({ label, remaining, unit }) => `${label} has ${remaining} ${unit} left.`,
  'credits.running-out': ({ label, runsOut }) =>
    `What ${label} has left probably ends on ${runsOut.median}.`,
  // Without names, no model and no key has most of it.
  'usage.unusual-hour': ({ label, at, amount, unit, names }) =>
    `${label} used ${amount} ${unit} in the hour from ${at}${names.length === 0 ? '' : `: ${names.join(', ')}`}.`,
}

/**
 * Receives alerts at a port.
 *
 * @param {(text: string, id: string) => Promise<void>} tell fails if the text is to be told again
 */
export function receive(tell) {
  const { USAGE_WEBHOOK_SECRET, PORT = '8081' } = process.env
  const webhook = new Webhook(USAGE_WEBHOOK_SECRET)
  /**
   * A message may come twice, under one id, also while the first is still being told. Yours is a table with the id as its key.
   *
   * @type {Map<string, Promise<void>>}
   */
  const taken = new Map()
  const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    let message
    try {
      message = webhook.verify(Buffer.concat(parts).toString(), request.headers)
    } catch {
      response.writeHead(400).end()
      return
    }
    const id = String(request.headers['webhook-id'])
    // A type that is not known here may come with a later version.
    const text = texts[message.type]?.(message.data) ?? message.type
    process.stdout.write(taken.has(id) ? '' : `${text}\n`)
    const told = taken.get(id) ?? tell(text, id)
    taken.set(id, told)
    try {
      await told
      response.writeHead(204).end()
    } catch {
      // The server sends it again.
      taken.delete(id)
      response.writeHead(503).end()
    }
  })
  server.listen(Number(PORT), '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
  )
}
