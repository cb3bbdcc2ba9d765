const certificateCodes =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** Whether a code of an error tells of TLS: a handshake that failed, a certificate not trusted. */
export function isTlsError(code: string): boolean {
  return (
    code.startsWith('ERR_TLS') ||
    code.startsWith('ERR_SSL') ||
    code === 'EPROTO' ||
    certificateCodes.test(code)
  )
}
