/** Our support address, which is also the sender of the site's mails. */
export const supportEmail = 'hello@robokidslearning.example'
