package panel;

import static org.springframework.security.config.Customizer.withDefaults;

import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProviderBuilder;
import org.springframework.security.oauth2.client.annotation.RegisteredOAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Signs users in with Spring Security. */
@SpringBootApplication
@RestController
public class Panel {
  public static void main(String[] arguments) {
    SpringApplication.run(Panel.class, arguments);
  }

  // docs: use
  @Bean
  SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients) {
    var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
    signOut.setPostLogoutRedirectUri("{baseUrl}/");
    return http.authorizeHttpRequests(
            paths -> paths.requestMatchers("/").permitAll().anyRequest().authenticated())
        .oauth2Login(withDefaults())
        .logout(logout -> logout.logoutSuccessHandler(signOut))
        .build();
  }

  /** The access token of the signed-in user, renewed when it has expired. */
  @GetMapping("/token")
  Map<String, String> token(@RegisteredOAuth2AuthorizedClient("aldaba") OAuth2AuthorizedClient client) {
    return Map.of("access_token", client.getAccessToken().getTokenValue());
  }
  // docs: end

  /** Only a test shortens the life of the tokens; without this bean, Spring renews them a minute before they expire. */
  @Bean
  OAuth2AuthorizedClientManager manager(
      ClientRegistrationRepository clients,
      OAuth2AuthorizedClientRepository authorized,
      @Value("${RENEW_SECONDS:60}") long seconds) {
    var manager = new DefaultOAuth2AuthorizedClientManager(clients, authorized);
    manager.setAuthorizedClientProvider(
        OAuth2AuthorizedClientProviderBuilder.builder()
            .authorizationCode()
            .refreshToken(refresh -> refresh.clockSkew(Duration.ofSeconds(seconds)))
            .build());
    return manager;
  }

  @GetMapping("/")
  Map<String, Object> home(@AuthenticationPrincipal OidcUser user) {
    if (user == null) {
      return Collections.singletonMap("user", null);
    }
    return Map.of(
        "user", Map.of("sub", user.getSubject(), "email", user.getEmail(), "name", user.getFullName()));
  }
}
