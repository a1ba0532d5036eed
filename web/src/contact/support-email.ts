/** Where families reach us; mails from the site come from there as well. */
export const supportEmail = 'hello@robokidslearning.example'
