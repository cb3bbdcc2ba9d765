// A receiver of alerts: it checks each message, takes each once, and gives it on to a chat.
// USAGE_WEBHOOK_SECRET=whsec_… CHAT_URL=https://chat.example.com/hook node examples/usage-host/alerts.js
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { USAGE_WEBHOOK_SECRET, CHAT_URL, PORT = '8081' } = process.env
const webhook = new Webhook(USAGE_WEBHOOK_SECRET)
/** A message may come twice, under one id. Yours is a table with the id as its key. */
const taken = new Set()

const texts = {
  'budget.reached': ({ label, used, amount, unit }) =>
    `${label} has used ${used} of its budget of ${amount} ${unit}.`,
  'budget.forecast': ({ label, crosses, amount, unit }) =>
    `${label} will probably have used its budget of ${amount} ${unit} on ${crosses}.`,
  'credits.below': ({ label, remaining, unit }) => `${label} has ${remaining} ${unit} left.`,
  'credits.running-out': ({ label, runsOut }) =>
    `What ${label} has left probably ends on ${runsOut.median}.`,
  'usage.unusual-hour': ({ label, at, amount, unit, names }) =>
    `${label} used ${amount} ${unit} in the hour from ${at}: ${names.join(', ')}.`,
}

async function tell(text) {
  process.stdout.write(`${text}\n`)
  if (CHAT_URL === undefined) return
  const body = JSON.stringify({ text })
  const headers = { 'content-type': 'application/json' }
  const { ok } = await fetch(CHAT_URL, { method: 'POST', headers, body })
  if (!ok) throw new Error('the chat did not take it')
}

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
  const id = request.headers['webhook-id']
  try {
    // A type that is not known here may come with a later version.
    if (!taken.has(id)) await tell(texts[message.type]?.(message.data) ?? message.type)
    taken.add(id)
    response.writeHead(204).end()
  } catch {
    // The server sends it again.
    response.writeHead(503).end()
  }
})
server.listen(Number(PORT), '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
)
