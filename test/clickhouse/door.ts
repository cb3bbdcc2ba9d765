import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

/**
 * `node test/clickhouse/door.ts FOLDER DATA`: the engine of ClickHouse in this process (chdb of FOLDER), behind
 * as much of its HTTP interface as the client uses, for the user "assay" with the password "s3cret+pass". It
 * prints its port.
 */
const [folder, data] = process.argv.slice(2)
const { Session } = createRequire(join(folder!, 'package.json'))('chdb')
const session = new Session(data)
const scratch = mkdtempSync(join(tmpdir(), 'assay-door-'))
process.on('exit', () => rmSync(scratch, { recursive: true }))

async function answer({ searchParams }: URL, body: Buffer): Promise<Buffer> {
  const run = (sql: string, format = 'CSV') => session.queryAsync(sql, { format })
  await run(`USE ${searchParams.get('database') ?? 'default'}`)
  for (const [name, value] of searchParams) {
    if (/^(query|query_id|database|session_id|role|enable_http.*|wait_end.*)$/.test(name)) continue
    const quoted = `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    await run(`SET ${name} = ${name.startsWith('param_') || !/^\d+$/.test(value) ? quoted : value}`)
  }
  const insert = /^(.*\(([^)]*)\)|.*)\s+FORMAT (\w+)\s*$/s.exec(searchParams.get('query') ?? '')
  if (insert === null) {
    const sql = body.toString()
    const [, format] = /FORMAT (\w+)\s*;?\s*$/.exec(sql) ?? []
    return Buffer.from((await run(sql, format)).bytes())
  }
  const [, into, columns = '*', format] = insert
  const file = join(scratch, 'body')
  writeFileSync(file, body)
  await run(`${into} SELECT ${columns} FROM file('${file}', '${format}')`)
  return Buffer.alloc(0)
}

let last: Promise<unknown> = Promise.resolve()
const server = createServer(async (request, response) => {
  const body = await buffer(request)
  const [, basic = ''] = (request.headers.authorization ?? '').split(' ')
  const user = Buffer.from(basic, 'base64').toString()
  if (user !== 'assay:s3cret+pass') {
    response.writeHead(403)
    response.end(
      `Code: 516. DB::Exception: ${user}: Authentication failed. (AUTHENTICATION_FAILED)`,
    )
    return
  }
  const mine = last.then(() => answer(new URL(request.url!, 'http://door'), body))
  last = mine.catch(() => {})
  try {
    response.end(await mine)
  } catch (error) {
    response.writeHead(500)
    response.end((error as Error).message)
  }
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`),
)
