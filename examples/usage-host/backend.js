// A backend that signs tokens for the usage page of its signed-in customer.
// USAGE_URL=http://127.0.0.1:8790 PRIVATE_KEY=usage-private.pem node examples/usage-host/backend.js
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { importPKCS8, SignJWT } from 'jose'

const { USAGE_URL, PRIVATE_KEY, PORT = '8080' } = process.env
const key = await importPKCS8(readFileSync(PRIVATE_KEY, 'utf8'), 'EdDSA')
const host = readFileSync(new URL('host.html', import.meta.url), 'utf8').replaceAll(
  'USAGE_URL',
  USAGE_URL,
)

/** Your session decides whose usage is shown: never a parameter of the request. */
const accountOf = (_request) => 'acct-204'

const server = createServer(async (request, response) => {
  if (request.url !== '/usage-token') {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(host)
    return
  }
  const token = await new SignJWT({
    shows: ['credits', 'cost', 'keys', 'models', 'tags', 'requests', 'export'],
  })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setSubject(accountOf(request))
    .setAudience('assay-usage')
    .setIssuedAt()
    .setNotBefore('0s')
    .setExpirationTime('1h')
    .setJti(randomUUID())
    .sign(key)
  response.setHeader('content-type', 'text/plain').setHeader('cache-control', 'no-store').end(token)
})
server.listen(Number(PORT), '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`),
)
