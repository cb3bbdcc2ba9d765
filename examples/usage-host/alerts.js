// A receiver of alerts that gives each on to a chat.
// USAGE_WEBHOOK_SECRET=whsec_… CHAT_URL=https://chat.example.com/hook node examples/usage-host/alerts.js
import { receive } from './receiver.js'

const { CHAT_URL } = process.env

receive(async (text) => {
  if (CHAT_URL === undefined) return
  const body = JSON.stringify({ text })
  const headers = { 'content-type': 'application/json' }
  const { ok } = await fetch(CHAT_URL, { method: 'POST', headers, body })
  if (!ok) throw new Error('the chat did not take it')
})
