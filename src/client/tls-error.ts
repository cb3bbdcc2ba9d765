const certificateCodes =
  /^(CERT_|ERR_TLS_CERT|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** Whether a code of an error tells of a certificate that is not trusted. */
export function isCertificateError(code: string): boolean {
  return certificateCodes.test(code)
}

/** Whether a code of an error tells of TLS: a handshake that failed, a certificate not trusted. */
export function isTlsError(code: string): boolean {
  return (
    code.startsWith('ERR_TLS') ||
    code.startsWith('ERR_SSL') ||
    code === 'EPROTO' ||
    isCertificateError(code)
  )
}
