// A receiver of alerts that gives each on as a mail, by the machine's sendmail.
// USAGE_WEBHOOK_SECRET=whsec_… MAIL_TO=ops@example.com MAIL_FROM=usage@example.com node examples/usage-host/mail.js
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { receive } from './receiver.js'

const { MAIL_TO, MAIL_FROM, SENDMAIL = 'sendmail' } = process.env

receive(async (text, id) => {
  // A name of an account or a key is data: it cannot begin a header.
  const line = text.replace(/[\r\n]+/g, ' ')
  const program = spawn(SENDMAIL, ['-i', '-t'], { stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(program, 'close')
  program.stdin.on('error', () => {})
  program.stdin.end(
    `From: ${MAIL_FROM}\nTo: ${MAIL_TO}\nSubject: Usage alert\nMessage-ID: <${id}@usage.example.com>\nContent-Type: text/plain; charset=utf-8\n\n${line}\n`,
  )
  const [code] = await ended
  if (code !== 0) throw new Error('sendmail did not take it')
})
