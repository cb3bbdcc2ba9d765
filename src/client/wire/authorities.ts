import { nodeTls } from './node-tls.ts'

/** Trusted authorities and the client's identity, as PEM; verification cannot be turned off. */
export interface TlsTexts {
  readonly ca?: string
  /** The client's own certificate and key, for services that require them. */
  readonly identity?: { readonly cert: string; readonly key: string }
}

/** Options of Node's TLS: default authorities plus the given ones, and the identity. */
export function tlsOptions({ ca, identity }: TlsTexts) {
  return {
    ...(ca === undefined ? {} : { ca: [...nodeTls().getCACertificates('default'), ca] }),
    ...identity,
  }
}
