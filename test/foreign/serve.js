/**
 * One API behind one limiter, as a process: `node serve.js express-rate-limit 20 key 17` (a limit of 20 for each
 * key, and a clock that starts in second 17). The parent hears its port, moves its clock by `{ advanceMs }`, and
 * hears when that is done.
 */
import { createServer } from 'node:http'
import { advance } from './clock.js'

const [name, limit] = process.argv.slice(2)
// After the clock: a library may keep references that it takes when it is loaded.
const { listener } = await import(`./limiters/${name}.js`)
const listen = await listener(Number(limit))

const server = createServer((request, response) => {
  response.setHeader('Date', new Date().toUTCString())
  let text = ''
  request.on('data', (bytes) => {
    text += bytes
  })
  request.on('end', () => listen(Object.assign(request, { text }), response))
})
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', ({ advanceMs }) => {
  advance(advanceMs)
  process.send({ advanced: true })
})
process.on('disconnect', () => process.exit())
