import { connect, isIP } from 'node:net'
import { type TlsTexts, tlsOptions } from '../../client/wire/authorities.ts'
import { nodeTls } from '../../client/wire/node-tls.ts'
import { isCertificateError, isTlsError } from '../../client/wire/tls-error.ts'
import { userError } from '../../user/user-error.ts'

/**
 * Connects once before a run. If nothing listens or TLS fails, a thousand broken connections would show
 * no more.
 *
 * @throws UserError with the reason and the remedy
 */
export async function reach(baseUrl: string, tls: TlsTexts, waitMs: number): Promise<void> {
  const { hostname, port, protocol } = new URL(baseUrl)
  const secure = protocol === 'https:'
  const number = Number(port || (secure ? 443 : 80))
  const host = hostname.replace(/^\[|\]$/g, '')
  const to = { host, port: number, autoSelectFamily: true }
  await new Promise<void>((resolve, reject) => {
    const socket = secure
      ? nodeTls().connect({
          ...to,
          ...tlsOptions(tls),
          servername: isIP(host) === 0 ? host : '',
        })
      : connect(to)
    const fail = (why: string) => {
      socket.destroy()
      reject(userError.unreachable(`${hostname}:${number} was never reached: ${why}`))
    }
    let connected = false
    socket.once('connect', () => {
      connected = true
    })
    const timer = setTimeout(
      () =>
        fail(
          connected
            ? `it accepts connections, but no TLS handshake ended within ${waitMs / 1000} s. Raise timeouts.connect, or correct the base URL; http:// may be meant.`
            : `no connection within ${waitMs / 1000} s (timeouts.connect). ${startIt}`,
        ),
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

const startIt = 'Start the service, or correct the base URL.'

function reasonOf({ code = '', message }: NodeJS.ErrnoException): string {
  if (code === 'CERT_HAS_EXPIRED') {
    return `its certificate has expired. Renew it at the service; if it is valid there, correct this machine's clock.`
  }
  if (code === 'CERT_NOT_YET_VALID') {
    return `its certificate is not valid yet. Correct this machine's clock; if it is right, renew the certificate at the service.`
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate is for another name (${message}). Use a base URL with a name in the certificate, or get a certificate for this name.`
  }
  if (isCertificateError(code)) {
    return `its certificate is not trusted (${message}). Name the authority's PEM file in ca_file of the scenario (--ca-file of bench), or in NODE_EXTRA_CA_CERTS.`
  }
  if (isTlsError(code)) {
    return `it does not use TLS there (${code}). Correct the base URL; perhaps it begins with http://.`
  }
  switch (code) {
    case 'ECONNREFUSED':
      return `nothing listens there (connection refused). ${startIt}`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `its host name is unknown. ${startIt}`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no route to it. ${startIt}`
    default:
      return `${code || message}. ${startIt}`
  }
}
