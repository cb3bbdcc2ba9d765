import type { TlsTexts } from '../../client/wire/authorities.ts'
import { nodeTls } from '../../client/wire/node-tls.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import { readTextOr } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'

/** Reads the PEM files of a scenario. @throws UserError that names the file, never its content */
export function tlsOf({
  caFile,
  certFile,
  keyFile,
}: Pick<Scenario, 'caFile' | 'certFile' | 'keyFile'>): TlsTexts {
  return {
    ...(caFile === null
      ? {}
      : { ca: pemOf(caFile, 'ca_file', 'The authorities come', 'CERTIFICATE') }),
    ...(certFile === null || keyFile === null ? {} : { identity: identityOf(certFile, keyFile) }),
  }
}

function identityOf(certFile: string, keyFile: string) {
  const cert = pemOf(certFile, 'cert_file', "The client's certificate comes", 'CERTIFICATE')
  const key = pemOf(keyFile, 'key_file', "The client's key comes", 'PRIVATE KEY')
  try {
    nodeTls().createSecureContext({ cert, key })
  } catch {
    throw userError.run(
      `The key in ${keyFile} is not the one of the certificate in ${certFile}, or is encrypted. key_file names its key, without a passphrase.`,
    )
  }
  return { cert, key }
}

function pemOf(file: string, field: string, what: string, kind: string): string {
  const unread = `${what} from the file ${file}, which cannot be read. ${field} is relative to the scenario's folder.`
  const pem = readTextOr(file, () => userError.run(unread))
  if (pem.includes(`${kind}-----`)) return pem
  throw userError.run(
    `${what} from the file ${file}, which holds no ${kind.toLowerCase()}. ${field} names a PEM file, with ${kind}----- in it.`,
  )
}
