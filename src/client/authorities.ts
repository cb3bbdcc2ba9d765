import { getCACertificates } from 'node:tls'

/** What to trust, as an option of TLS: the system's authorities, and the given one beside them. */
export function authorities(ca: string | undefined): { readonly ca?: string[] } {
  return ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }
}
