import { randomInt } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { defaultContract } from '../contract/default.ts'
import { userError } from '../user/user-error.ts'
import { withAnswers } from './answers/list.ts'
import type { Behaviour, Kit } from './behaviour.ts'
import { type Clock, type MovableClock, realClock } from './clock.ts'
import { Customers } from './customers.ts'
import { type ActiveFault, parseFaults, withFaults } from './faults/fault.ts'
import { faults } from './faults/list.ts'
import { honestAccess } from './honest/access.ts'
import { honestAdmission } from './honest/admission.ts'
import { honestBilling } from './honest/billing.ts'
import { honestGeneration } from './honest/generation.ts'
import { bandOf, honestLimits } from './honest/limits.ts'
import { honestWire } from './honest/wire.ts'
import { Gateway } from './http/gateway.ts'
import { OperatorApi } from './http/operator-api.ts'
import { Accounts } from './ledger/accounts.ts'
import { Database } from './ledger/database.ts'
import { Ledger } from './ledger/ledger.ts'
import { EvidenceApi } from './money/evidence-api.ts'
import { type MoneyOptions, moneyOptions } from './money/money-options.ts'
import { Operator } from './operator.ts'
import type { AccountRequest, ReadyKey, ServiceOptions, Shape } from './options.ts'
import { frameAncestors } from './pages/exchange.ts'
import { pagesOf } from './pages/pages.ts'
import { type Profile, parseProfile } from './profile.ts'
import { seededRandom } from './random.ts'
import { RateTable } from './rates.ts'
import { asIs } from './upstream/as-is.ts'
import { Upstream } from './upstream/relay.ts'
import { toolRequests } from './upstream/tools.ts'
import { UsageReports } from './usage/report.ts'

export interface RunningService {
  /** Scheme, host and port. */
  readonly baseUrl: string
  readonly keys: readonly ReadyKey[]
  readonly operator: Operator
  readonly customers: Customers
  /** Ends open connections, commits, and closes the ledger. */
  close(): Promise<void>
}

/** A quick model: slow enough to show increments, fast enough for tests. */
export const defaultShape: Shape = {
  timeToFirstUs: { kind: 'constant', value: 5_000 },
  betweenTokensUs: { kind: 'constant', value: 1_000 },
  lengthTokens: { kind: 'uniform', min: 8, max: 32 },
}

/** One account in each band, with credits to spend before it leaves the band. */
const defaultAccounts: readonly AccountRequest[] = [
  { name: 'band-1', balance: 100 },
  { name: 'band-2', balance: 1_000 },
  { name: 'band-3', balance: 10_000 - 1 },
  { name: 'band-4', balance: 1_000_000 },
]

/** The error if the port cannot be used, described for the person who starts the service. */
function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return userError.service(
        `--port: expected a free port; another program listens on ${host}:${port} (0 lets the system pick)`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return userError.service(`--host: expected an address of this machine; got "${host}"`)
    case 'EACCES':
      return userError.service(
        `--port: expected a port that you may listen on; ${port} is reserved`,
      )
    default:
      return error
  }
}

/**
 * Starts the reference service on this machine.
 *
 * @throws UserError for an invalid option, such as an unknown fault
 */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const profile = parseProfile(options.profile, 'profile')
  const money = moneyOptions(options)
  const active = parseFaults(money.otherFaults, faults)
  const database = new Database(options.dataPath ?? ':memory:', options.durability ?? 'process')
  try {
    return await startOn(database, profile, active, money, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The caller closes the database if this fails. */
async function startOn(
  database: Database,
  profile: Profile,
  active: readonly ActiveFault[],
  money: MoneyOptions,
  options: ServiceOptions,
): Promise<RunningService> {
  const contract = options.contract ?? defaultContract
  const time = options.clock ?? realClock(options.timeScale, database.latestUs())
  let closed = false
  // A closed service runs no timer.
  const clock: Clock = {
    nowUs: () => time.nowUs(),
    at: (dueUs, callback) =>
      time.at(dueUs, () => {
        if (!closed) callback()
      }),
    // A pace stops when its connection ends, and connections end before the service closes.
    pace: (dueUs, step) => time.pace(dueUs, step),
    catchUp: () => time.catchUp(),
  }
  const seed = options.seed ?? randomInt(2 ** 31)
  const ledger = new Ledger(database, clock, profile.burnOrder)
  const accounts = new Accounts(database, clock)
  const random = seededRandom(seed)
  const rates = new RateTable(profile.algorithm, profile.bandChange)
  const usage = new UsageReports(database, ledger, clock, profile.charge === 'end')
  const kit: Kit = { contract, profile, clock, random, database, accounts, ledger, rates, usage }

  const upstream = options.upstream === undefined ? null : new Upstream(kit, options.upstream)
  const wire = honestWire(kit, (call) => behaviour.responseId(call))
  const admission = honestAdmission(kit, options.outage ?? null)
  const honest: Behaviour = {
    ...honestAccess(kit),
    ...admission,
    ...honestLimits(kit),
    ...honestBilling(kit),
    ...(upstream?.generation() ??
      honestGeneration(
        kit,
        { ...defaultShape, ...options.shape },
        seed,
        // Looked up at each call, so that a fault in one part also affects the others.
        (call, answer) => behaviour.timing(call, answer),
        (call) => behaviour.answer(call),
      )),
    ...wire,
    ...(upstream === null ? {} : { ...asIs(wire), ...toolRequests(admission, profile) }),
  }
  const answering = withAnswers(honest, kit)
  const billing = money.billing(kit)
  const billed = billing === null ? answering : { ...answering, ...billing.over(answering) }
  const behaviour = withFaults(billed, active, kit)
  const honestEvents = behaviour.events === wire.events && behaviour.frame === wire.frame
  const customers = new Customers(kit, behaviour)
  const { frameOrigins = [] } = options
  const pages = pagesOf(kit, behaviour, customers, frameOrigins)
  const operator = new Operator(kit, isMovable(time) ? time : null, options.seed ?? null)
  const { operatorKey } = options
  const operatorApi = operatorKey === undefined ? null : new OperatorApi(operator, operatorKey)
  const gateway = new Gateway(
    kit,
    behaviour,
    pages,
    operatorApi,
    billing === null ? null : new EvidenceApi(contract.prices!, billing),
    honestEvents,
    options.trustProxy ?? false,
  )

  // The specification allows slow responses (§8.3), and keep-alive must outlast pauses.
  const headTimeoutMs = options.headTimeoutMs ?? 10_000
  const server = createServer({
    keepAliveTimeout: 75_000,
    requestTimeout: contract.timeouts.readMs,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: Math.min(headTimeoutMs, 1000),
    noDelay: true,
    requireHostHeader: false,
  })
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // A token that is due goes before a new request, because its stream has already begun.
    clock.catchUp()
    response.sendDate = false
    // The figures of the usage page may be framed where the page may.
    if (frameOrigins.length > 0 && request.url?.split('?')[0] === contract.paths.credits)
      response.setHeader('content-security-policy', frameAncestors(frameOrigins))
    gateway.handle(request, response)
  }
  server.on('request', handle)
  // node:http would answer these itself. Here they are handled as all other requests are.
  server.on('checkExpectation', handle)
  server.on('clientError', (error, socket) => gateway.refuseUnreadable(error, socket as Socket))
  server.on('connect', (request, socket) => gateway.refuseTunnel(request, socket as Socket))
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    clock.catchUp()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const host = options.host ?? '127.0.0.1'
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenError(error, host, options.port ?? 0)),
    )
    server.listen(options.port ?? 0, host, 1024, resolve)
  })
  const { port } = server.address() as AddressInfo
  const keys = (options.accounts ?? defaultAccounts).map((asked) => {
    const account = operator.openAccount(asked.name, asked.balance)
    const apiKey = operator.issueKey(account, 'ready')
    const balance = operator.balance(account)
    const band = bandOf(contract, profile, balance)?.name ?? null
    return { name: asked.name, band, balance, account, apiKey }
  })
  // An account and its key are stored before they are shown, so that no crash can lose them.
  await new Promise<void>((resolve) => database.afterCommit(resolve))
  return {
    baseUrl: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    keys,
    operator,
    customers,
    async close() {
      const ended = [...sockets].map(
        (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
      )
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      // A server closes before its sockets report it, and interrupted requests are settled only
      // then.
      await Promise.all(ended)
      await upstream?.close()
      closed = true
      await database.close()
    },
  }
}

const isMovable = (clock: object): clock is MovableClock => 'advance' in clock
