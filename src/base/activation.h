/* Activation: the activation functions of feed-forward networks. */
#ifndef YK_BASE_ACTIVATION_H
#define YK_BASE_ACTIVATION_H

enum yk_activation {
    YK_ACTIVATION_GELU_TANH,    /* GELU in the tanh form (Hendrycks and Gimpel 2016) */
    YK_ACTIVATION_GELU,         /* GELU in the exact form: x · Φ(x) */
    YK_ACTIVATION_RELU,         /* max(x, 0) */
    YK_ACTIVATION_RELU_SQUARED, /* max(x, 0)² (So et al. 2021) */
    YK_ACTIVATION_SILU,         /* x · sigmoid(x) */
    YK_ACTIVATION_TANH,
};

#endif
