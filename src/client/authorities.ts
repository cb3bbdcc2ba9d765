import { getCACertificates } from 'node:tls'

/** Whom a client trusts and who it is, as PEM; verification itself cannot be turned off. */
export interface TlsTexts {
  /** Additional authorities. */
  readonly ca?: string
  /** The client's own certificate and its key, for services that ask for one. */
  readonly identity?: { readonly cert: string; readonly key: string }
}

/** Options of Node's TLS: the system's authorities, the given ones beside them, and the identity. */
export function tlsOptions({ ca, identity }: TlsTexts) {
  return {
    ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }),
    ...identity,
  }
}
