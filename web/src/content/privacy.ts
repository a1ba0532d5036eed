import { supportEmail } from '../contact/support-email.ts'
import type { Content } from '../reading/blocks.ts'

export const privacy: Content = {
  kicker: 'Legal',
  title: 'Privacy Policy',
  lead: 'What we know about you and your child, why, who we share it with, and when we delete it.',
  date: ['Effective', '2025-08-23'],
  picture: 'document',
  contents: true,
  numbered: true,
  sections: [
    {
      id: 'about',
      title: 'About this policy',
      blocks: [
        'This policy is for everyone who visits the website of Robo Kids Learning (“we”, “us”), located in Silicon Valley, California, and for every parent or guardian who registers a child, becomes a member, buys from us or writes to us (“you”). It applies to the website, the classes and the kits. Our Terms of Service apply as well.',
      ],
    },
    {
      id: 'collect',
      title: 'What we collect',
      blocks: [
        'We ask for what a class, an order or an account needs:',
        {
          kind: 'list',
          items: [
            [
              { strong: 'When you register a child:' },
              ' your name and email; the child’s first name and age; the shipping address; the class and its start date.',
            ],
            [
              { strong: 'When you become a member:' },
              ' your first and last name, email, phone number, birthdate, address, plan and class date; your password, which we store only as a hash; and, if you set them up, your passkeys and your second step.',
            ],
            [
              { strong: 'When you pay:' },
              ' what was bought, the amount, and the payment provider’s reference. Your card number goes to the payment provider and never reaches our servers.',
            ],
            [
              { strong: 'When you sign the waiver:' },
              ' the signed document, the time, your network address and your browser, as evidence of your signature.',
            ],
            [{ strong: 'When you write to us:' }, ' your message and our answer.'],
            [
              { strong: 'When you visit the website:' },
              ' technical logs: network address, time, the page requested, and the kind of browser.',
            ],
            [{ strong: 'When a class meets:' }, ' audio and video of the live session, which may be recorded.'],
          ],
        },
      ],
    },
    {
      id: 'use',
      title: 'How we use it',
      blocks: [
        {
          kind: 'list',
          items: [
            'To hold a seat, take the payment, ship the kit and let your child into the class.',
            'To send you what goes with that: confirmations, the signed waiver, class links, changes and codes.',
            'To keep accounts safe, to find errors, and to stop fraud and abuse.',
            'To answer you.',
            'To teach better, from what we see in classes and recordings.',
            'To tell you about new classes, if you asked for it. Each of those emails lets you unsubscribe.',
            'To do what the law requires, such as keeping tax records.',
          ],
        },
        'We do not use what we know about a child for advertising, and we make no automated decision about anyone that has legal or similar effect.',
      ],
    },
    {
      id: 'storage',
      title: 'Where we store it',
      blocks: [
        'Your data is stored with a cloud provider in the United States. It travels encrypted, passwords are kept as hashes, and only people who need it for their work can reach it. No system is perfectly safe. If a breach puts you at risk, we tell you and the authorities as the law requires.',
      ],
    },
    {
      id: 'sharing',
      title: 'Who we share it with',
      blocks: [
        'We do not sell personal information. We share it only with companies that do part of the work for us, and give them no more than they need:',
        {
          kind: 'facts',
          items: [
            ['Payment', 'The card payment provider: your name, email, what you buy and the amount.'],
            ['Shipping', 'The carrier: your name and the shipping address.'],
            [
              'Analytics',
              'A provider that counts visits and finds errors, where we use one: technical data, never a child’s name.',
            ],
            ['Email and text messages', 'The provider that delivers them: your address or number, and the message.'],
            ['Cloud', 'The provider whose servers we run on.'],
          ],
        },
        'Beyond that, we share it when the law requires it, to protect someone’s safety, or with a company that takes over our business; that company is bound by this policy.',
      ],
    },
    {
      id: 'retention',
      title: 'How long we keep it',
      blocks: [
        {
          kind: 'facts',
          items: [
            ['Accounts', '7 years after closure'],
            ['Transactions', '7 years'],
            ['Educational content', 'Program duration plus 2 years'],
            ['Marketing data', 'Up to 5 years'],
            ['Technical logs', '12 months'],
            ['Support', '3 years'],
          ],
        },
        'Educational content is what your child makes in a class, and the recordings of its sessions. The signed waiver is kept with its transaction. After these times, we delete the data or remove everything that identifies a person.',
      ],
    },
    {
      id: 'children',
      title: 'Children’s privacy',
      blocks: [
        'Our programs are made for children ages 6 and up; a parent may also register a child of 5. All of them take part through their parent or guardian.',
        [
          { strong: 'We do not collect personal information directly from children under 13.' },
          ' The parent or guardian registers, pays, signs and receives our emails. A child needs no account, and no form on this website is meant for a child.',
        ],
        'In a live class a child may be seen and heard by the coach and the small group, and the session may be recorded. The camera may stay off. You may ask us at any time to see, correct or delete what we hold about your child, and to collect nothing more; write to us as described in section 14. If we learn that a child under 13 has sent us personal information without a parent’s consent, we delete it.',
      ],
    },
    {
      id: 'cookies',
      title: 'Cookies and similar storage',
      blocks: [
        'We use few of them, and no script can read our cookies. Over https their names begin with “__Host-”.',
        {
          kind: 'table',
          caption: 'Cookies',
          head: ['Name', 'What it tells us', 'How long'],
          rows: [
            [[{ code: 'robokids-session' }], 'That you are logged in.', 'Until you log out, 30 days at most'],
            [[{ code: 'robokids-sign-in' }], 'Which step you are at while you log in.', '3 minutes'],
            [[{ code: 'robokids-sign-up' }], 'Logs you in once your new account is confirmed.', '3 minutes'],
            [[{ code: 'robokids-confirm' }], 'Which new account was made in this browser.', '1 day'],
            [
              [{ code: 'robokids-device' }],
              'That you have logged in here, so that no one who tries your password elsewhere can lock you out.',
              '400 days',
            ],
            [
              [{ code: 'robokids-browser' }],
              'Which browser this is, from the first time you continue to payment. With it you can see and change what you have booked here without an account; anyone else who knows your email address cannot.',
              '1 year',
            ],
          ],
        },
        'What you’ve started is kept in your browser’s own storage and isn’t sent to us automatically:',
        {
          kind: 'table',
          caption: 'Storage of your browser',
          head: ['Name', 'What it holds', 'How long'],
          rows: [
            [
              [{ code: 'roboKidsSignUpDraft, membershipDraft' }],
              'What you have typed into a form that you have not sent yet.',
              'Until you send it or log out, or close the tab where you are not logged in',
            ],
            [
              [{ code: 'contactMessage' }],
              'What you have typed into a message to us.',
              'Until it is sent, or you log out or close the tab',
            ],
            [
              [{ code: 'roboKidsSignUpSent' }],
              'Which registrations this tab has sent, so that nothing is booked twice.',
              'Until the tab is closed',
            ],
            [
              [{ code: 'roboKidsWaiverSession' }],
              'Your registration, for the confirmation and the waiver.',
              'Until the waiver is signed or the tab is closed',
            ],
            [
              [{ code: 'roboKidsRegistration' }],
              'The same, for a confirmation that opens in another tab.',
              'Until the waiver is signed',
            ],
            [[{ code: 'roboKidsReceipt' }], 'What your receipt shows.', 'Until you close the receipt or the tab'],
            [
              [{ code: 'pendingUser' }],
              'Your new account, until it is paid for and confirmed; never its password.',
              'Until you log out or close the tab',
            ],
            [
              [{ code: 'signInStep' }],
              'That a code is on its way to you, so that a reload does not lose it.',
              '1 hour at most',
            ],
            [
              [{ code: 'cart, cart-order' }],
              'What is in your cart, and the order that it was sent as.',
              'Until the tab is closed',
            ],
            [[{ code: 'signedIn' }], 'That pages show the link to your profile.', 'Until you log out'],
            [[{ code: 'cookiesAccepted' }], 'That you have accepted the cookie banner.', 'Until you delete it'],
            [
              [{ code: 'tsr-scroll-restoration-v1_3' }],
              'How far you have scrolled, so that Back returns you there.',
              'Until the tab is closed',
            ],
            [
              [{ code: 'loadedAnew, tanstack_router_reload' }],
              'That a page was reloaded because a file was missing.',
              'Until the tab is closed',
            ],
          ],
        },
        'We set no advertising cookies. You can delete cookies and storage in your browser at any time; then you have to log in again, unfinished forms are empty, and you reach what you booked without an account through the links in our emails.',
      ],
    },
    {
      id: 'rights',
      title: 'Your rights',
      blocks: [
        'Wherever you live, you may ask us what we hold about you and your child, have it corrected, have it deleted, receive a copy in a common format, object to a use, and withdraw consent. Members can see and change their details, and delete their account, on the profile page.',
        [
          { strong: 'We answer each request within 30 days.' },
          ' To protect you, we first make sure the request comes from you. We have to keep some records, such as tax records; we tell you which.',
        ],
      ],
    },
    {
      id: 'california',
      title: 'California rights',
      blocks: [
        'If you live in California, the California Consumer Privacy Act gives you the right to know which categories and pieces of personal information we collect, from where, for what and with whom we share them; to have them deleted or corrected; to limit the use of sensitive information; and not to be treated worse for using these rights.',
        'In the past 12 months we have collected identifiers, customer records, commercial information, internet activity, and audio and visual information, for the purposes in section 3. We do not sell personal information and do not share it for advertising across websites, and have not done so. You may have someone act for you, with your signed permission.',
      ],
    },
    {
      id: 'international',
      title: 'International users',
      blocks: [
        'We are in the United States, ship kits within the United States, and store data there. If you use the website from elsewhere, your data comes to a country whose privacy laws may differ from yours. Where your country’s law gives you more rights, such as complaining to a data protection authority, you keep them.',
      ],
    },
    {
      id: 'other-sites',
      title: 'Other websites',
      blocks: [
        'Some links lead to other sites: the payment page, a research paper, a video site, a social network. Their policies apply there, not this one.',
      ],
    },
    {
      id: 'changes',
      title: 'Changes to this policy',
      blocks: [
        'When we change this policy, the date at its top changes. If a change matters to you, we also email you before it takes effect. What we collected under an earlier policy stays protected at least as well.',
      ],
    },
    {
      id: 'contact',
      title: 'How to reach us',
      blocks: [
        [
          'For every question and request about privacy: ',
          { mail: supportEmail },
          ', subject “Privacy”. Robo Kids Learning, Silicon Valley, California. Our hours and other ways to reach us are on the ',
          { to: '/contact', text: 'contact page' },
          '.',
        ],
      ],
    },
  ],
}
