import { supportEmail } from '../contact/support-email.ts'
import type { Content } from '../reading/blocks.ts'

/** Frequent questions, each with an anchor. */
export const faq: Content = {
  kicker: 'FAQ',
  title: 'Questions that parents ask',
  lead: 'From choosing a level to the box at your door. Each question has its own address, so you can share it.',
  picture: 'letter',
  contents: true,
  sections: [
    {
      id: 'choosing',
      title: 'Choosing a class',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'which-level',
              question: 'Which level is right for my child?',
              answer: [
                [
                  'Go by what your child has built before, then by age. ',
                  { to: '/levels', text: 'Compare levels' },
                  ' shows the four side by side and suggests one.',
                ],
              ],
            },
            {
              id: 'age',
              question: 'My child is younger or older than recommended. Is that a problem?',
              answer: [
                'No. The ages are a recommendation: we tell you when your child is outside of them, and you decide. The youngest we take is 5.',
              ],
            },
            {
              id: 'experience',
              question: 'Does my child need to know any coding?',
              answer: [
                'Not for Level 1, which begins with the parts on the table. Level 2 is easier after a first circuit or a first program; Level 3 builds on conditions and loops.',
              ],
            },
            {
              id: 'group-size',
              question: 'How big are the groups?',
              answer: ['5 to 10 students and a live coach, so that every child is seen and helped.'],
            },
            {
              id: 'class-full',
              question: 'The class that I want is full. What now?',
              answer: [
                [
                  'Look at the other dates of the same level on the ',
                  { to: '/robokidslanding', text: 'class page' },
                  '. If none suits you, ',
                  { to: '/contact', text: 'write to us' },
                  ', and we find one together.',
                ],
              ],
            },
            {
              id: 'siblings',
              question: 'Can brothers and sisters join together?',
              answer: [
                'Yes. One registration holds several children, and each gets a seat. While a sibling promotion is on, one child that pays brings one sibling free, in the levels and until the day that the class page names.',
                'Either all of them get a seat or none, so nobody is left behind.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'paying',
      title: 'Registering and paying',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'who-registers',
              question: 'Who can register a child?',
              answer: [
                'A parent or guardian who is 18 or older. You need no account for a class: the links in our emails lead to your registration.',
              ],
            },
            {
              id: 'price',
              question: 'What does the price include?',
              answer: [
                'The live sessions, the kit, and its shipping within the United States. There is nothing to add.',
              ],
            },
            {
              id: 'how-to-pay',
              question: 'How do I pay, and is my card safe?',
              answer: [
                'By card, on the page of our payment provider. Your card number goes to them and never reaches our servers. You get a receipt by email.',
              ],
            },
            {
              id: 'hold',
              question: 'Is the seat mine while I pay?',
              answer: [
                'Yes, it is held for about half an hour from when you go on to pay. If you come back later, we hold a seat again if there is one.',
              ],
            },
            {
              id: 'mistake',
              question: 'I made a mistake in the form. How do I correct it?',
              answer: [
                'Before you pay, go back and change it: you pay for one seat for each child, not for two. After that, write to us with your order information, and we put it right.',
              ],
            },
            {
              id: 'refunds',
              question: 'Can I get my money back?',
              answer: [
                [
                  { strong: 'All sales are final' },
                  ': we pay nothing back for a missed session, a change of mind or a kit that was opened.',
                ],
                [
                  'What we owe you we pay back all the same, and you do not have to ask: when your seat was gone before your payment arrived, when we cancel a class, and when you were charged twice. It goes to the card that paid, and an email tells you. ',
                  { to: '/terms', text: 'The terms' },
                  ' have it in full.',
                ],
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'waiver-and-kit',
      title: 'The waiver and the kit',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'why-a-waiver',
              question: 'Why do I sign a waiver?',
              answer: [
                [
                  'Building involves tools, batteries and moving parts. The waiver names the risks, and you sign it for your child after you have paid. You can ',
                  { to: '/waiver.pdf', text: 'read it now (PDF)' },
                  '. Your signed copy comes by email.',
                ],
              ],
            },
            {
              id: 'not-signed',
              question: 'What if I do not sign it?',
              answer: [
                'Your seat stays yours, but the kit does not ship and the class link is not sent until you have signed. The link is in the email that confirms your registration.',
              ],
            },
            {
              id: 'kit-arrival',
              question: 'When does the kit arrive?',
              answer: [
                'It ships after you have signed the waiver and before the program starts. We email you when it is on its way. Kit styles may vary.',
              ],
            },
            {
              id: 'shipping',
              question: 'Where do you ship?',
              answer: ['To any address within the United States: the one in your registration.'],
            },
            {
              id: 'missing-part',
              question: 'A part is missing or broken. What now?',
              answer: [
                [
                  'Tell us within 14 days at ',
                  { mail: supportEmail },
                  ', and we send it to you. The kit is yours to keep.',
                ],
              ],
            },
            {
              id: 'safety',
              question: 'Is the kit safe for small children in the house?',
              answer: [
                'It holds small parts, batteries and magnets: keep it away from children under 3, and stay within reach while your child builds.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'class-day',
      title: 'On the day of the class',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'class-link',
              question: 'How does my child join?',
              answer: [
                'Live, on a video call. The class link comes by email before the class, once the waiver is signed. It is for your family alone.',
              ],
            },
            {
              id: 'at-home',
              question: 'What does my child need at home?',
              answer: [
                'A computer or tablet with a camera and a microphone, a steady internet connection and a table to build on. The rest is in the kit.',
              ],
            },
            {
              id: 'time-zones',
              question: 'Which time zone are the class times in?',
              answer: [
                'Pacific Time, as we are in California. Where your clock shows another time, our pages and emails tell yours beside it. The calendar entry in your confirmation is right in any zone.',
              ],
            },
            {
              id: 'recorded',
              question: 'Are classes recorded?',
              answer: [
                'They may be, for teaching, safety and quality. Your child may keep the camera off. Please do not record a session yourself.',
              ],
            },
            {
              id: 'missed-session',
              question: 'What if we miss a session?',
              answer: [
                'It is not refunded, and the program goes on with the next one. The build guide in the kit shows every step, so that your child can catch up.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'membership',
      title: 'Membership, account and shop',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'membership-gives',
              question: 'What does a membership give?',
              answer: [
                [
                  'A seat in the members’ session of the class date that you choose: live, in a small group, without a kit. ',
                  { to: '/membership', text: 'Membership' },
                  ' has the prices by the month and by the year.',
                ],
              ],
            },
            {
              id: 'cancel-membership',
              question: 'How do I cancel a membership?',
              answer: [
                'On your profile page, at any time. It runs until the end of what you have paid for, and nothing more is charged. Until you cancel it renews by itself.',
              ],
            },
            {
              id: 'cannot-log-in',
              question: 'I cannot log in. What can I do?',
              answer: [
                [
                  'Ask for a new password under “Forgot your password?” on the ',
                  { to: '/membership/login', text: 'login page' },
                  ', or log in with a passkey or a code that we send you.',
                ],
              ],
            },
            {
              id: 'pre-order',
              question: 'When is a pre-ordered robot charged, and when does it ship?',
              answer: [
                [
                  'Your card is charged when you order, and it ships when it is made. For what is still coming soon, ask the ',
                  { to: '/shop', text: 'shop' },
                  ' to notify you: that is free, and you are bound to nothing.',
                ],
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'privacy',
      title: 'Your family’s data',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'child-data',
              question: 'What do you know about my child?',
              answer: [
                [
                  'A first name and an age, from you. Children have no accounts, and no form here is meant for a child. We sell no data and show no advertising. The ',
                  { to: '/privacy', text: 'Privacy Policy' },
                  ' tells all of it.',
                ],
              ],
            },
            {
              id: 'delete-data',
              question: 'How do I have my data deleted?',
              answer: [
                [
                  'Delete your account on your profile page, or write to ',
                  { mail: supportEmail },
                  '. We answer within 30 days. Some records we have to keep, for taxes for instance.',
                ],
              ],
            },
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/contact', text: 'Ask us' },
    { to: '/levels', text: 'Compare levels' },
  ],
}
