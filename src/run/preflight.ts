import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { authorities } from '../client/authorities.ts'
import { isCertificateError, isTlsError } from '../client/tls-error.ts'
import { TargetError } from './errors.ts'

/**
 * Knocks once before a run: where nothing listens, or TLS fails, a thousand broken connections say no
 * more.
 *
 * @param ca further authorities to trust, as PEM
 * @throws TargetError in one sentence, with the way out
 */
export async function reach(
  baseUrl: string,
  ca: string | null = null,
  waitMs = 5000,
): Promise<void> {
  const { hostname, port, protocol } = new URL(baseUrl)
  const secure = protocol === 'https:'
  const number = Number(port || (secure ? 443 : 80))
  const host = hostname.replace(/^\[|\]$/g, '')
  const to = { host, port: number, autoSelectFamily: true }
  await new Promise<void>((resolve, reject) => {
    const socket = secure
      ? connectTls({
          ...to,
          ...authorities(ca ?? undefined),
          servername: isIP(host) === 0 ? host : '',
        })
      : connect(to)
    const fail = (why: string) => {
      socket.destroy()
      reject(new TargetError(`${hostname}:${number} was never reached: ${why}`))
    }
    const timer = setTimeout(
      () => fail(`no connection within ${waitMs / 1000} s. ${startIt}`),
      waitMs,
    )
    socket.once('close', () => clearTimeout(timer))
    socket.once('error', (error: NodeJS.ErrnoException) => fail(reasonOf(error)))
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

const startIt = 'Start the service, or correct --base-url.'

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  if (isCertificateError(code)) {
    return `its certificate is not trusted (${message}). Name the authority's PEM file in ca_file of the scenario, or in NODE_EXTRA_CA_CERTS.`
  }
  if (isTlsError(code)) {
    return `it does not speak TLS there (${code}). Correct --base-url; http:// may be meant.`
  }
  switch (code) {
    case 'ECONNREFUSED':
      return `nothing listens there (connection refused). ${startIt}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `its name is not known. ${startIt}`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no route to it. ${startIt}`
    default:
      return `${code || message}. ${startIt}`
  }
}
