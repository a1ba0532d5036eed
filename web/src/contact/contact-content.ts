import type { Content } from '../reading/blocks.ts'
import { supportEmail } from './support-email.ts'

export const contact: Content = {
  kicker: 'Contact',
  title: 'Contact Us',
  lead: 'A question about a class, a kit or an order? Write to us. A person reads it.',
  picture: 'letter',
  sections: [
    {
      id: 'email',
      title: 'By email',
      blocks: [
        ['Write to ', { mail: supportEmail }, '. We reply within 48 hours, Monday to Friday.'],
        {
          kind: 'note',
          title: 'Is it about an order?',
          text: 'Please include your order information: the name you registered with, the email you used, the class and its date. It saves us both some back and forth. Never send us a card number or a password.',
        },
      ],
    },
    { id: 'message', title: 'Send a message', blocks: [{ kind: 'message-form' }] },
    {
      id: 'phone',
      title: 'By phone',
      blocks: [
        'Would you rather talk? Ask for a call by email: tell us your number and a good time, and we’ll call you.',
        {
          kind: 'facts',
          items: [
            ['Email reply', 'Within 48 hours, Monday to Friday'],
            ['Phone hours', '9 AM to 4 PM Pacific, Monday to Friday'],
            ['Where we are', 'Silicon Valley, California'],
          ],
        },
      ],
    },
    {
      id: 'quick',
      title: 'You may find the answer here',
      blocks: [
        {
          kind: 'list',
          items: [
            ['What parents ask most, from payment to the kit: the ', { to: '/faq', text: 'FAQ' }, '.'],
            ['Which of the four levels fits: ', { to: '/levels', text: 'Compare levels' }, '.'],
            ['Dates, prices and open seats: ', { to: '/robokidslanding', text: 'the class page' }, '.'],
            ['Your account or your membership: ', { to: '/membership', text: 'Membership' }, '.'],
            ['What we keep about you, and how to have it deleted: ', { to: '/privacy', text: 'Privacy Policy' }, '.'],
          ],
        },
      ],
    },
  ],
}
